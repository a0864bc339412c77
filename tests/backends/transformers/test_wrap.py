"""Tokenizers and networks of transformers that are in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch or transformers is not installed")
pytest.importorskip("transformers", reason="torch or transformers is not installed")

from tokenizers import Tokenizer
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

import ticore
from tests.support.tokenizers import TRAINED
from ticore.consistency import audit
from ticore.errors import SettingsError
from ticore_tokenizers import HuggingFaceTokenizer

TEXT = "The quick brown fox, isn't it?"


@pytest.fixture(scope="module")
def ours() -> HuggingFaceTokenizer:
    return TRAINED["hf-gpt2"]()


@pytest.fixture(scope="module")
def fast(ours: HuggingFaceTokenizer) -> Any:
    """A fast tokenizer, which puts a start token before each text."""
    library = Tokenizer.from_str(ours._library.to_str())
    return PreTrainedTokenizerFast(
        tokenizer_object=library, bos_token="<|endoftext|>", eos_token="<|endoftext|>"
    )


def test_wrap_takes_a_fast_tokenizer(ours: HuggingFaceTokenizer, fast: Any) -> None:
    wrapped = ticore.wrap(fast)
    assert wrapped.encode(TEXT) == ours.encode(TEXT)
    assert ticore.wrap(fast) is wrapped


def test_functions_that_take_a_tokenizer_take_a_fast_one(
    ours: HuggingFaceTokenizer, fast: Any
) -> None:
    ids = ours.encode(TEXT)
    assert ticore.compare(fast, ids).consistent
    assert ticore.Verifier(fast).start(ids).consistent
    assert audit(fast).vocab_size == ours.vocab_size
    detector = ticore.WatermarkDetector(fast, "unigram", key=bytes(32))
    assert detector.tokenizer is ticore.wrap(fast)


@pytest.fixture(scope="module")
def network() -> LlamaForCausalLM:
    sizes = {"hidden_size": 8, "intermediate_size": 8, "num_attention_heads": 2}
    return LlamaForCausalLM(LlamaConfig(vocab_size=32, num_hidden_layers=1, **sizes))


@pytest.mark.parametrize(
    "take",
    [
        lambda network: ticore.Watermarker(network, "unigram", key=bytes(32)),
        lambda network: ticore.Steganographer(network, key=bytes(32)),
        lambda network: ticore.consistent_generate(network, "a"),
    ],
    ids=["Watermarker", "Steganographer", "consistent_generate"],
)
def test_functions_that_take_a_model_refuse_a_network_by_name(
    network: LlamaForCausalLM, take: Callable[[Any], object]
) -> None:
    expected = r"found a transformers\..*LlamaForCausalLM; wrap a network with its tokenizer"
    with pytest.raises(SettingsError, match=expected):
        take(network)


def test_wrap_refuses_a_network_and_names_its_tokenizer(network: LlamaForCausalLM) -> None:
    with pytest.raises(SettingsError, match="this is a network: give its tokenizer, or wrap both"):
        ticore.wrap(network)
