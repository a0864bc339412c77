"""The forward pass that the steps stand beside."""

from __future__ import annotations

from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from ticore_torch import Network

from .clock import seconds_of_work

_PAST = 32  # tokens in the cache


class SmallLlama:
    """A random Llama of SmolLM2-135M's shape.

    Args:
        vocab_size: the number of logits.
        device: that it computes on.
    """

    def __init__(self, vocab_size: int, device: torch.device) -> None:
        torch.manual_seed(0)
        config = LlamaConfig(
            vocab_size=vocab_size,
            hidden_size=576,
            intermediate_size=1536,
            num_hidden_layers=30,
            num_attention_heads=9,
            num_key_value_heads=3,
            tie_word_embeddings=True,
        )
        module: Any = LlamaForCausalLM(config)
        self._network = Network(module.eval().to(device))
        self._device = device

    def seconds_per_pass(self, rows: int, passes: int) -> float:
        """Seconds of a pass that reads a token in each of `rows` texts, the least of some."""
        seconds = []
        with self._network.computing():
            cache = self._network.new_cache()
            self._network.read(range(_PAST), cache)
            cache.batch_repeat_interleave(rows)
        for _ in range(passes + 1):
            length = cache.get_seq_length()
            started = seconds_of_work(self._device)
            self._network.read_each([5] * rows, cache, [length] * rows)
            seconds.append(seconds_of_work(self._device) - started)
        return min(seconds[1:])
