"""Tests of a tokenizer and its engine that need not be run again, since they passed before.

The tests ask the tokenizer, and a large one takes seconds to build. A test that passed would pass
again: it draws nothing at random, and it is stored under all that decides about it. A test that
failed is run each time.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import numpy as np
import regex

from ..._support import table_cache
from ..._support.code_digest import code_digest
from ...interfaces import Tokenizer
from .._tokenizer_rules.unicode14 import VERSION

_CODE = Path(__file__).parents[1], Path(table_cache.__file__).parent


def checks_of(tokenizer: Tokenizer, test: str, run: Callable[[], int]) -> int:
    """How many checks a test of a tokenizer made.

    Args:
        tokenizer: without `reader_digest` the test is run each time.
        test: its name and its settings.
        run: makes the checks and gives their number; raises where one fails.
    """
    reader, code = getattr(tokenizer, "reader_digest", ""), code_digest(*_CODE)
    if not (reader and code):
        return run()
    versions = f"{np.__version__} {regex.__version__} {VERSION}"
    # A subclass may read in another way.
    kind = f"{type(tokenizer).__module__}.{type(tokenizer).__qualname__}"
    by = sha256(f"{reader} {kind} {code} {versions}".encode()).hexdigest()
    # One name for all code, so that what was stored for other code is replaced.
    name = f"passed-{sha256(f'{tokenizer.digest()} {test}'.encode()).hexdigest()}"
    checks = table_cache.load_unpacked(name, lambda arrays: _checks(arrays, by))
    if checks is None:
        checks = run()
        table_cache.save(name, {"checks": np.array(checks), "by": np.array(by)})
    return checks


def _checks(arrays: table_cache.Arrays, by: str) -> int:
    if str(arrays["by"]) != by:
        raise ValueError("expected a test by this code, found one by other code")
    return int(arrays["checks"])
