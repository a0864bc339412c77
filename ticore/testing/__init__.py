"""Contracts: pytest classes for your own tokenizer, model, codec, disambiguation or scheme.

Derive a class from a contract, and give it the fixture that its docstring names. pytest then runs
all tests of the contract on what the fixture returns.

- `TokenizerContract`: a tokenizer.
- `ModelContract`, `ModelLimitsContract`, `ModelThreadsContract`: a language model. For optional
  abilities of a model there are `TopDecoderContract` and `BatchModelContract`.
- `ChannelContract`: a channel of messages.
- `CodecContract`, `KeyedCodecContract`: a codec.
- `DisambiguationContract`: a disambiguation.
- `SchemeContract`: a watermarking scheme.

`assert_no_drift` is an assertion for tests of rollouts.

This package needs pytest and hypothesis, which the extra `testing` installs.
"""

from . import _requirements as _requirements  # first of all
from ._channels import ChannelContract
from ._codecs import CodecContract, KeyedCodecContract
from ._disambiguations import DisambiguationContract
from ._drift import assert_no_drift
from ._models import (
    BatchModelContract,
    ModelContract,
    ModelLimitsContract,
    ModelThreadsContract,
    TopDecoderContract,
)
from ._schemes import SchemeContract
from ._tokenizers import TokenizerContract

__all__ = [
    "BatchModelContract",
    "ChannelContract",
    "CodecContract",
    "DisambiguationContract",
    "KeyedCodecContract",
    "ModelContract",
    "ModelLimitsContract",
    "ModelThreadsContract",
    "SchemeContract",
    "TokenizerContract",
    "TopDecoderContract",
    "assert_no_drift",
]
