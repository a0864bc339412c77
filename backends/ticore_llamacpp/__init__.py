"""GGUF files run by llama.cpp, through llama-cpp-python: `llamacpp:FILE.gguf`.

_options.py  what a caller may choose, checked
_network.py  the model as llama.cpp runs it, and the caches that it reads texts into
_forward.py  one text read token by token
_model.py    the model as the core sees it
_loading.py  all of these in their order

_logits_processor.py masks candidates where llama-cpp-python itself writes a text. It is no part of
the backend and may import the core.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ticore.interfaces import LanguageModel, ModelBackend, TokenizerLoader

if TYPE_CHECKING:
    from ._logits_processor import ConsistentLogitsProcessor

__all__ = ["BACKEND", "ConsistentLogitsProcessor"]

# Checked here, so that a list of the backends shows at once that this one cannot be used.
for _package in ("llama_cpp", "gguf"):
    if find_spec(_package) is None:
        raise ModuleNotFoundError(f"No module named {_package!r}", name=_package)


class _Backend:
    summary = "GGUF files of all causal models that llama.cpp runs, on the CPU"
    shipped: Mapping[str, str] = {}

    def folder(self, model: str) -> Path | None:
        """None: this backend has no bundled model."""
        return None

    def load(
        self, location: str, load_tokenizer: TokenizerLoader, options: Mapping[str, object]
    ) -> LanguageModel:
        """Load the model in the GGUF file `location`; see `ticore_llamacpp._loading.load`."""
        from ._loading import load  # noqa: PLC0415  # loads the library of llama.cpp

        return load(location, load_tokenizer, options)


BACKEND: ModelBackend = _Backend()


def __getattr__(name: str) -> Any:
    if name == "ConsistentLogitsProcessor":  # with it much that a model does not need
        return getattr(import_module("._logits_processor", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
