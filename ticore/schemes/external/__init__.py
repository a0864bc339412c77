"""Schemes that read and write the watermarks of other engines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .._base import Scheme
from ._sglang import SGLangGumbel
from ._synthid import TransformersSynthID
from ._textseal import TextSealGumbel
from ._transformers import TransformersKGW
from ._vllm import VLLMGumbel
from ._vllm_dual_key import VLLMDualKeyGumbel
from ._vllm_sbw import VLLMBernoulli


def _transformers(config: Mapping[str, Any], vocab_size: int) -> TransformersKGW:
    own = dict(config)
    size = own.pop("vocab_size", None)
    return TransformersKGW.from_config(own, vocab_size if size is None else size)


def _synthid_scheme(config: Mapping[str, Any], _vocab_size: int) -> TransformersSynthID:
    own = dict(config)
    bayesian = own.pop("bayesian", None)
    return TransformersSynthID.from_config(own, bayesian=bayesian)


def _vllm(config: Mapping[str, Any], _vocab_size: int) -> Scheme:
    algorithm = config.get("algorithm")
    if algorithm == "dual_key_gumbel":
        return VLLMDualKeyGumbel.from_config(config)
    if algorithm == "sbw":
        return VLLMBernoulli.from_config(config)
    return VLLMGumbel.from_config(config)


CONSTRUCTORS: dict[str, Callable[[Mapping[str, Any], int], Scheme]] = {
    "transformers": _transformers,
    "synthid": _synthid_scheme,
    "vllm": _vllm,
    "sglang": lambda config, _vocab_size: SGLangGumbel.from_config(config),
    "textseal": lambda config, _vocab_size: TextSealGumbel.from_config(config),
}
"""By the engine's name: `f(config, vocab_size)` makes a scheme from the engine's settings.

The settings of `transformers` may also have `vocab_size`, the model config's: its lists are drawn
from that many ids, which may be more than the tokenizer has; and `cuda_threads`, where a GPU drew
them: see `TransformersKGW`. Those of `synthid` may have
`bayesian`, the weights of a trained detector: see `TransformersSynthID`.
"""

__all__ = [
    "CONSTRUCTORS",
    "SGLangGumbel",
    "TextSealGumbel",
    "TransformersKGW",
    "TransformersSynthID",
    "VLLMBernoulli",
    "VLLMDualKeyGumbel",
    "VLLMGumbel",
]
