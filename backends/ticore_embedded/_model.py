"""The Llama in NumPy, as the core sees it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from ticore.backend_kit import ArrayDecoder, CheckpointModel
from ticore.backend_kit.checkpoint import Checkpoint
from ticore.interfaces import Logits, Tokenizer

from ._batch import EmbeddedBatchedForward
from ._forward import EmbeddedForward
from ._network import Cache, Network


class EmbeddedModel(CheckpointModel):
    """A Llama in NumPy. Every text is read after the start token, which is not among its ids.

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
            positions=network.config.max_position_embeddings,
            eos_ids=network.config.eos_ids,
            dtype=network.dtype.name,
            logits_dtype=network.dtype,
        )
        self.network = network

    def new_decoder(self, ids: list[int], opened: list[int]) -> ArrayDecoder:
        """A Decoder of `ids` that has read `opened`."""
        return ArrayDecoder(self, EmbeddedForward(self.network), ids, opened)

    def new_batched_forward(self) -> EmbeddedBatchedForward:
        """What reads several texts side by side."""
        return EmbeddedBatchedForward(self.network)

    def read_all(self, ids: list[int]) -> Logits:
        """Logits float[len(ids), width] after each id, in one pass."""
        cache = Cache(self.network.config, self.network.dtype)
        return self.network.logits(self.network.read(ids, cache))

    def digest_parts(self) -> Mapping[str, Any]:
        """Sizes, weights, precision and tokenizer."""
        return {
            "config": dataclasses.asdict(self.network.config),
            "dtype": self.network.dtype.name,
            "weights": self.network.weights.digest,
            "tokenizer": self.tokenizer.digest(),
        }
