"""A network in NumPy, as the core sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ticore.backend_kit import CheckpointModel, ManyDecoder
from ticore.backend_kit.checkpoint import Checkpoint
from ticore.interfaces import Logits, Tokenizer

from ._batch import EmbeddedBatchedForward
from ._forward import EmbeddedForward
from ._network import Network
from ._version_1 import config_facts, is_of_version_1


class EmbeddedModel(CheckpointModel):
    """A causal language model in NumPy.

    Several threads may use one model, each with its own Decoders.

    Args:
        network: the weights, ready to run.
        tokenizer: has at most as many ids as the network has logits.
        checkpoint: the files that both are from.
    """

    def __init__(self, network: Network, tokenizer: Tokenizer, checkpoint: Checkpoint) -> None:
        super().__init__(
            tokenizer,
            checkpoint=checkpoint,
            start=checkpoint.start,
            width=network.config.vocab_size,
            positions=network.config.context,
            eos_ids=frozenset(network.config.eos_ids),
            dtype=network.dtype.name,
            logits_dtype=network.dtype,
        )
        self.network = network
        self._files = checkpoint

    def new_decoder(self, ids: list[int], opened: list[int]) -> ManyDecoder:
        """A Decoder of `ids` that has read `opened`."""
        return ManyDecoder(self, EmbeddedForward(self.network), ids, opened)

    def new_batched_forward(self) -> EmbeddedBatchedForward:
        """What reads several texts side by side."""
        return EmbeddedBatchedForward(self.network)

    def read_all(self, ids: list[int]) -> Logits:
        """Logits float[len(ids), width] after each id, in one pass."""
        states = self.network.read(ids, self.network.new_cache())
        return self.network.logits(np.concatenate(list(states)))

    def digest_parts(self) -> Mapping[str, Any]:
        """Sizes, weights, precision and tokenizer, and this backend: `jax:` reads the same files.

        Models that were made for this backend do not name it: their digests last. Of those `jax:`
        names itself.
        """
        config, start = self.network.config, self._files.start
        parts = {
            "dtype": self.network.dtype.name,
            "weights": self._files.tensors.digest(),
            "tokenizer": self.tokenizer.digest(),
        }
        if is_of_version_1(config, start, self._files.config):
            return parts | {"config": config_facts(config, self._files.config)}
        if not self._files.is_made_here:
            parts["backend"] = "embedded"
        return parts | {
            "config": config.facts(),
            "start": {"token": start.token, "always": start.always},
        }
