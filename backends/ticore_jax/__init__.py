"""Causal language models in Flax NNX on JAX: `jax:DIRECTORY` or `jax:FILE.gguf`.

They run on CPU, GPU and TPU, one device or many.

_network.py        the forward pass
_families.py       from an architecture's tensors to the network
_placement.py      the mesh of devices, and which weight lies where
_runner.py         the network compiled for few shapes, and its cache
_forward.py        one text read token by token
_device_logits.py  logits that stay on their device until they are asked for
_batch.py          several texts read side by side
_model.py          the model as the core sees it
_loading.py        opens a directory or a GGUF file: uses all of these in turn

JAX takes a second to import, so it is imported when a model is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from ticore.interfaces import LanguageModel, ModelBackend, TokenizerLoader

__all__ = ["BACKEND"]

# Checked here, so that a list of the backends shows at once that this one cannot be used.
for _package in ("jax", "flax"):
    if find_spec(_package) is None:
        raise ModuleNotFoundError(f"No module named {_package!r}", name=_package)


class _Backend:
    summary = "Llama, Mistral, Qwen2 and GPT-2 models on JAX: CPU, GPU, TPU, one device or many"
    shipped: Mapping[str, str] = {}

    def folder(self, model: str) -> Path | None:
        """None: this backend has no bundled model."""
        return None

    def load(
        self, location: str, load_tokenizer: TokenizerLoader, options: Mapping[str, object]
    ) -> LanguageModel:
        """Load the model in the directory `location`; see `ticore_jax._loading.load`."""
        from ._loading import load  # noqa: PLC0415  # JAX takes a second

        return load(location, load_tokenizer, options)


BACKEND: ModelBackend = _Backend()
