"""A network with its tokenizer, as the core sees it: start, push, rewind, score."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ticore.checkpoint import Checkpoint
from ticore.decoding import DeviceDecoder
from ticore.interfaces import BatchDecoder, Logits, Tokenizer
from ticore.limits import checked_ids, require_float64, require_prompt_fits, require_scorable
from ticore.rows import Rows, checked_prompts, each_row

from .batch import JaxRows, Programs
from .reading import JaxText
from .runner import Runner


class JaxModel:
    """A causal language model on JAX.

    Args:
        runner: the network.
        tokenizer: of at most as many ids as the network has logits.
        checkpoint: the files that both are from.
    """

    def __init__(self, runner: Runner, tokenizer: Tokenizer, checkpoint: Checkpoint) -> None:
        self._runner = runner
        self._tokenizer = tokenizer
        self._start = checkpoint.start
        self._checkpoint = checkpoint

    @property
    def tokenizer(self) -> Tokenizer:
        return self._tokenizer

    @property
    def logit_width(self) -> int:
        """Number of logits."""
        return self._runner.config.vocab_size

    @property
    def eos_ids(self) -> frozenset[int]:
        """Ids that end a text."""
        return frozenset(self._runner.config.eos_ids)

    @property
    def context_length(self) -> int:
        """Most ids that a Decoder can read. One position is the start token's, used or not."""
        return self._runner.config.context - 1

    def start(self, prompt_ids: Sequence[int]) -> DeviceDecoder:
        """A Decoder that has read `prompt_ids`, behind the start token if there is one.

        Raises:
            PromptError: the prompt exceeds `context_length`.
            SettingsError: an id has no logit.
        """
        require_prompt_fits(len(prompt_ids), self.context_length)
        checked = self._checked(prompt_ids)
        opened = self._start.before(checked)
        return DeviceDecoder(self, JaxText(self._runner), checked, opened)

    def start_batch(
        self, prompts: Sequence[Sequence[int]], rewindable: int | None = None
    ) -> BatchDecoder:
        """A BatchDecoder whose rows have read `prompts`, behind the start token if there is one.

        Logits may differ in their last bits from those of a Decoder, and by how many rows are read
        at a time.

        Raises as `start`, and names the row.
        """
        checked = checked_prompts(self, prompts)
        opened = each_row(self._start.before, checked)
        rows = JaxRows(self._programs)
        return Rows(self, rows, checked, rows.begin(opened) if opened else (), rewindable)

    def score(self, ids: Sequence[int]) -> Logits:
        """Logits float[len(ids), logit_width] in one pass; row i was computed before ids[i].

        Row i is what `start(ids[:i])` computes. It may differ in its last bits from what a
        Decoder gives that reads one by one.

        Raises:
            CapacityError: `ids` exceed `context_length` by more than one; the last is not read.
            SettingsError: an id has no logit.
        """
        require_scorable(len(ids), self.context_length)
        read = self._checked(ids)[:-1]
        rows = self._runner.read_all(self._start.before(read), self._runner.new_cache())
        if read and not self._start.always:
            rows = np.concatenate([self.start([]).logits()[None], rows])
            rows.setflags(write=False)
        return rows[: len(ids)]

    def digest(self) -> str:
        """SHA-256 hex digest of sizes, weights, precision and tokenizer.

        Devices are no part of it, though their kind and number change the last bits of logits.
        """
        return self._digest

    def portable_digest(self) -> str:
        """Hex digest of the checkpoint. Raises SettingsError where the dtype is not float64."""
        require_float64(self._runner.dtype.name)
        return self._checkpoint.digest()

    @cached_property
    def _programs(self) -> Programs:
        return Programs(self._runner)

    @cached_property
    def _digest(self) -> str:
        parts = {
            "config": dataclasses.asdict(self._runner.config),
            "start": dataclasses.asdict(self._start),
            "dtype": self._runner.dtype.name,
            "weights": self._checkpoint.tensors.digest(),
            "tokenizer": self._tokenizer.digest(),
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def _checked(self, ids: Sequence[int]) -> list[int]:
        return checked_ids(ids, self.logit_width)
