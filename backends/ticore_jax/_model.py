"""A network on JAX, as the core sees it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from ticore.backend_kit import CheckpointModel, DeviceDecoder
from ticore.backend_kit.checkpoint import Checkpoint
from ticore.interfaces import Logits, Tokenizer

from ._batch import JaxBatchedForward, Programs
from ._forward import JaxForward
from ._runner import Runner


class JaxModel(CheckpointModel):
    """A causal language model on JAX.

    Several threads may use one model, each with its own Decoders: reading a text changes its cache
    alone, and JAX keeps number formats per thread.

    Args:
        runner: the network.
        tokenizer: has at most as many ids as the network has logits.
        checkpoint: the files that both are from.
    """

    def __init__(self, runner: Runner, tokenizer: Tokenizer, checkpoint: Checkpoint) -> None:
        wide = runner.dtype == np.float64
        super().__init__(
            tokenizer,
            checkpoint=checkpoint,
            start=checkpoint.start,
            width=runner.config.vocab_size,
            positions=runner.config.context,
            eos_ids=frozenset(runner.config.eos_ids),
            dtype=runner.dtype.name,
            logits_dtype=np.float64 if wide else np.float32,
        )
        self._runner = runner
        self._tensors = checkpoint.tensors
        self._is_made_here = checkpoint.is_made_here

    def new_decoder(self, ids: list[int], opened: list[int]) -> DeviceDecoder:
        """A Decoder of `ids` that has read `opened`."""
        return DeviceDecoder(self, JaxForward(self._runner), ids, opened)

    def new_batched_forward(self) -> JaxBatchedForward:
        """What reads several texts side by side."""
        return JaxBatchedForward(self._programs)

    def read_all(self, ids: list[int]) -> Logits:
        """Logits float[len(ids), width] after each id, in one pass."""
        return self._runner.read_all(ids, self._runner.new_cache())

    def digest_parts(self) -> Mapping[str, Any]:
        """Sizes, weights, precision and tokenizer.

        Devices are no part of it, though their kind and number change the last bits of logits.
        This backend is named where `embedded:` would say the same of the same files; of others,
        that one names itself, so that digests of version 0.1 last.
        """
        named = {"backend": "jax"} if self._is_made_here else {}
        return named | {
            "config": self._runner.config.facts(),
            "start": {"token": self._start.token, "always": self._start.always},
            "dtype": self._runner.dtype.name,
            "weights": self._tensors.digest(),
            "tokenizer": self.tokenizer.digest(),
        }

    @cached_property
    def _programs(self) -> Programs:
        return Programs(self._runner)
