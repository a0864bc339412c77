"""Readers of watermarks that other engines write; each stands alone and needs NumPy only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..base import Readable
from .kgw import TransformersKGW
from .sglang import SGLangGumbel
from .synthid import TransformersSynthID
from .vllm import VLLMGumbel


def _transformers(config: Mapping[str, Any], vocab_size: int) -> TransformersKGW:
    own = dict(config)
    size = own.pop("vocab_size", vocab_size)
    return TransformersKGW.from_config(own, size)


READERS: dict[str, Callable[[Mapping[str, Any], int], Readable]] = {
    "transformers": _transformers,
    "synthid": lambda config, _vocab_size: TransformersSynthID.from_config(config),
    "vllm": lambda config, _vocab_size: VLLMGumbel.from_config(config),
    "sglang": lambda config, _vocab_size: SGLangGumbel.from_config(config),
}
"""By name: what makes a reader from the engine's own settings and the vocabulary's size.

To those of `transformers` may be added `vocab_size`, the model config's: its lists are drawn from
so many ids, which may be more than the tokenizer has.
"""

__all__ = ["READERS", "SGLangGumbel", "TransformersKGW", "TransformersSynthID", "VLLMGumbel"]
