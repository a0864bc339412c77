"""Names of types that all benchmarks share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

JsonObject = dict[str, Any]
"""What becomes a JSON object: strings as keys; objects, lists, numbers and strings as values."""

Sample = JsonObject
"""What a benchmark records about one task. It holds the values of its task under their names."""

Task = tuple[Any, ...]
"""The arguments of one call of a worker."""

Worker = Callable[..., Sample]
"""`worker(*task)` carries out a task and returns its sample."""
