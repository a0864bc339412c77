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

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ticore.backend_kit import LazyBackend, require_packages
from ticore.interfaces import ModelBackend

if TYPE_CHECKING:
    from ._logits_processor import ConsistentLogitsProcessor

__all__ = ["BACKEND", "ConsistentLogitsProcessor"]

require_packages("llama_cpp", "gguf")

BACKEND: ModelBackend = LazyBackend(
    "GGUF files of all causal models that llama.cpp runs, on the CPU", "ticore_llamacpp._loading"
)


def __getattr__(name: str) -> Any:
    if name == "ConsistentLogitsProcessor":  # with it much that a model does not need
        return getattr(import_module("._logits_processor", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
