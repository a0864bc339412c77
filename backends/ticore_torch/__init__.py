"""Causal language models of transformers on PyTorch: `torch:DIRECTORY` or `torch:OWNER/NAME`.

options.py     dtype, device and the other options, checked
places.py      from a place to a directory, from the hub where need be
sizes.py       what a config asks for, against the tensors there are
weights.py     the directory read by transformers, with nothing missing and nothing left over
precision.py   the same bits for the same calls; float64 that is float64 throughout
network.py     a transformers model with its cache: read, crop
rows.py        logits that stay on their device until they are asked for
batch.py       several texts read side by side
probe.py       what a few tokens tell about a network before it is trusted
model.py       the model and its Decoder, as the core sees them
loading.py     all of these in their order
generation.py  `consistent`: transformers' own generate, with rollback
masking.py     `ConsistentLogitsProcessor`: the same goal for batches and beams, token by token

PyTorch takes seconds to import, so it waits until a model is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ticore.interfaces import LanguageModel, ModelBackend, TokenizerLoader

if TYPE_CHECKING:
    from .generation import consistent
    from .masking import ConsistentLogitsProcessor
    from .model import TorchModel

__all__ = ["BACKEND", "ConsistentLogitsProcessor", "TorchModel", "consistent"]

_MODULES = {
    "ConsistentLogitsProcessor": "masking",
    "TorchModel": "model",
    "consistent": "generation",
}

# Whoever lists the backends is to learn at once that this one cannot be used.
for _package in ("torch", "transformers"):
    if find_spec(_package) is None:
        raise ModuleNotFoundError(f"No module named {_package!r}", name=_package)


class _Backend:
    summary = "causal language models of transformers, on PyTorch: CPU, CUDA"
    shipped: Mapping[str, str] = {}

    def folder(self, model: str) -> Path | None:
        """Nowhere: nothing ships with this backend."""
        return None

    def load(
        self, location: str, load_tokenizer: TokenizerLoader, options: Mapping[str, object]
    ) -> LanguageModel:
        """Load the model at `location`; see `ticore_torch.loading.load`."""
        from .loading import load  # noqa: PLC0415  # PyTorch takes seconds

        return load(location, load_tokenizer, options)


BACKEND: ModelBackend = _Backend()


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULES[name]}", __name__), name)
