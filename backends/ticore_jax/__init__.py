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

from ticore.backend_kit import LazyBackend, require_packages
from ticore.interfaces import ModelBackend

__all__ = ["BACKEND"]

require_packages("jax", "flax")

BACKEND: ModelBackend = LazyBackend(
    "Llama, Mistral, Qwen2 and GPT-2 models on JAX: CPU, GPU, TPU, one device or many",
    "ticore_jax._loading",
)
