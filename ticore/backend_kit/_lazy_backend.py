"""A backend of models that is there at once: its framework is imported with the first model."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from ..interfaces import LanguageModel, TokenizerLoader


def require_packages(*names: str) -> None:
    """Look for packages without importing them.

    A backend calls it when it is imported itself, so that a list of the backends shows at once that
    this one cannot be used.

    Raises:
        ModuleNotFoundError: one is not installed.
    """
    for name in names:
        if find_spec(name) is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


class LazyBackend:
    """A ModelBackend without bundled models.

    Args:
        summary: one line on what it loads.
        module: the name of the module whose `load` loads a model. It imports the framework, which
            may take seconds, so it is imported when a model is loaded.
    """

    shipped: Mapping[str, str] = {}

    def __init__(self, summary: str, module: str) -> None:
        self.summary, self._module = summary, module

    def folder(self, model: str) -> Path | None:
        """None: this backend has no bundled model."""
        return None

    def load(
        self, location: str, load_tokenizer: TokenizerLoader, options: Mapping[str, object]
    ) -> LanguageModel:
        """Load the model at `location`; see `load` in the backend's module."""
        model: LanguageModel = import_module(self._module).load(location, load_tokenizer, options)
        return model
