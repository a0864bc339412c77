"""Modules that backends imported before `ticore.backend_kit` held all they need.

`from ticore.rows import Rows` works for one release: the module is made when it is asked for, and
each name warns and comes from its new home. Imports of other modules take no longer.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from .deprecation import warn_deprecated

# Old module -> its new home, and the names that are different there.
_MOVED: dict[str, tuple[str, dict[str, str]]] = {
    "ticore.checkpoint": (
        "ticore.backend_kit.checkpoint",
        {"Start": "StartToken", "find_start": "find_start_token"},
    ),
    "ticore.decoding": ("ticore.backend_kit", {"TextReader": "CachedForward"}),
    "ticore.limits": ("ticore.backend_kit", {"Bounded": "HasLimits"}),
    "ticore.rows": (
        "ticore.backend_kit",
        {
            "RowReader": "BatchedForward",
            "Rows": "CheckedBatchDecoder",
            "naming": "error_names_row",
        },
    ),
    "ticore.schemes.readers": ("ticore.schemes.external", {}),
    "ticore.unicode": ("ticore.backend_kit", {}),
}


class MovedModules(MetaPathFinder, Loader):
    """Finds the modules that have moved, and no others."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module that has moved."""
        return ModuleSpec(fullname, self) if fullname in _MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        """Make a module whose names come from their new home, with a warning."""
        home, renamed = _MOVED[module.__name__]

        def find(name: str) -> Any:
            new = renamed.get(name, name)
            if name.startswith("__") or not hasattr(import_module(home), new):
                raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
            warn_deprecated(f"{module.__name__}.{name}", f"{home}.{new}")
            return getattr(import_module(home), new)

        vars(module)["__getattr__"] = find


def install() -> None:
    """Let imports of moved modules work. Only the first call does anything."""
    if not any(isinstance(finder, MovedModules) for finder in sys.meta_path):
        sys.meta_path.append(MovedModules())
