"""A network with its tokenizer, as the core sees it: start, push, rewind, score."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from functools import cached_property

from ticore.checkpoint import Checkpoint
from ticore.decoding import ArrayDecoder
from ticore.interfaces import BatchDecoder, Logits, Tokenizer
from ticore.limits import checked_ids, require_float64, require_prompt_fits, require_scorable
from ticore.rows import Rows, checked_prompts

from .batch import EmbeddedRows
from .network import Cache, Network
from .reading import EmbeddedText


class EmbeddedModel:
    """A Llama in NumPy. Every text is read after the start token, which is not among its ids.

    Args:
        network: the weights, ready to run.
        tokenizer: of at most as many ids as the network has logits.
        checkpoint: the files that both are from.
    """

    def __init__(self, network: Network, tokenizer: Tokenizer, checkpoint: Checkpoint) -> None:
        self.network = network
        self._tokenizer = tokenizer
        self._checkpoint = checkpoint

    @property
    def tokenizer(self) -> Tokenizer:
        return self._tokenizer

    @property
    def logit_width(self) -> int:
        """Number of logits."""
        return self.network.config.vocab_size

    @property
    def eos_ids(self) -> frozenset[int]:
        """Ids that end a text."""
        return self.network.config.eos_ids

    @property
    def context_length(self) -> int:
        """Most ids that a Decoder can read: the start token takes one position."""
        return self.network.config.max_position_embeddings - 1

    def start(self, prompt_ids: Sequence[int]) -> ArrayDecoder:
        """A Decoder that has read the start token and `prompt_ids`, which may be empty.

        Raises:
            PromptError: the prompt exceeds `context_length`.
            SettingsError: an id has no logit.
        """
        require_prompt_fits(len(prompt_ids), self.context_length)
        ids = self._checked(prompt_ids)
        opened = [self.network.config.bos_token_id, *ids]
        return ArrayDecoder(self, EmbeddedText(self.network), ids, opened)

    def start_batch(
        self, prompts: Sequence[Sequence[int]], rewindable: int | None = None
    ) -> BatchDecoder:
        """A BatchDecoder whose rows have read the start token and `prompts`.

        Logits may differ in their last bits from those of a Decoder, and by how many rows are read
        at a time: BLAS adds in another order.

        Raises as `start`, and names the row.
        """
        checked = checked_prompts(self, prompts)
        rows = EmbeddedRows(self.network)
        logits = rows.begin([[self.network.config.bos_token_id, *ids] for ids in checked])
        return Rows(self, rows, checked, logits, rewindable)

    def score(self, ids: Sequence[int]) -> Logits:
        """Logits float[len(ids), logit_width] in one pass; row i was computed before ids[i].

        They may differ in their last bits from those that a Decoder reads one by one.

        Raises:
            CapacityError: `ids` exceed `context_length` by more than one; the last is not read.
            SettingsError: an id has no logit.
        """
        require_scorable(len(ids), self.context_length)
        read = [self.network.config.bos_token_id, *self._checked(ids)][: len(ids)]
        cache = Cache(self.network.config, self.network.dtype)
        logits = self.network.logits(self.network.read(read, cache))
        logits.setflags(write=False)
        return logits

    def digest(self) -> str:
        """SHA-256 hex digest of sizes, weights, precision and tokenizer."""
        return self._digest

    def portable_digest(self) -> str:
        """Hex digest of the checkpoint. Raises SettingsError where the dtype is not float64."""
        require_float64(self.network.dtype.name)
        return self._checkpoint.digest()

    @cached_property
    def _digest(self) -> str:
        parts = {
            "config": dataclasses.asdict(self.network.config),
            "dtype": self.network.dtype.name,
            "weights": self.network.weights.digest,
            "tokenizer": self._tokenizer.digest(),
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def _checked(self, ids: Sequence[int]) -> list[int]:
        return checked_ids(ids, self.logit_width)
