"""Causal language models of transformers on PyTorch: `torch:DIRECTORY`, `torch:FILE.gguf` or
`torch:OWNER/NAME`.

_adopt.py          a model that is in memory already
_options.py        dtype, device and the other options, checked
_sizes.py          what a config asks for, compared with the tensors there are
_weights.py        the files read by transformers, with nothing missing and nothing left over
_precision.py      the same bits for the same calls, and float64 throughout
_network.py        a transformers model with its cache: read, crop
_forward.py        one text read token by token
_device_logits.py  logits that stay on their device until they are asked for
_batch.py          several texts read side by side
_probe.py          what a few tokens tell about a network before it is trusted
_model.py          the model and its Decoder, as the core sees them
_loading.py        all of these in their order

PyTorch takes seconds to import, so it is imported when a model is asked for. What plugs into
transformers' own `generate` is in `ticore_transformers`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ticore.backend_kit import LazyBackend, moved_names, require_packages
from ticore.interfaces import AdoptingModelBackend, LanguageModel, Tokenizer

if TYPE_CHECKING:
    from ._batch import TorchBatchedForward
    from ._forward import TorchForward
    from ._model import TorchModel
    from ._network import Network, ids_of

__all__ = ["BACKEND", "Network", "TorchBatchedForward", "TorchForward", "TorchModel", "ids_of"]

_MODULES = {
    "Network": "_network",
    "TorchBatchedForward": "_batch",
    "TorchForward": "_forward",
    "TorchModel": "_model",
    "ids_of": "_network",
}
_moved = moved_names(
    __name__,
    {
        "ConsistentLogitsProcessor": "ticore_transformers:ConsistentLogitsProcessor",
        "consistent": "ticore_transformers:consistent",
    },
)

require_packages("torch", "transformers")


class _Backend(LazyBackend):
    def adopt(self, found: object, tokenizer: Tokenizer, original: object) -> LanguageModel | None:
        """A model of transformers that is in memory; see `ticore_torch._adopt.adopt`."""
        if "transformers" not in sys.modules:
            return None  # transformers has made no model
        from ._adopt import adopt  # noqa: PLC0415  # PyTorch takes seconds

        return adopt(found, tokenizer, original)


BACKEND: AdoptingModelBackend = _Backend(
    "causal language models of transformers, on PyTorch: CPU, CUDA", "ticore_torch._loading"
)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f".{_MODULES[name]}", __name__), name)
    return _moved(name)
