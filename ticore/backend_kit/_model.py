"""A model made of a network, a tokenizer and files: all of `LanguageModel` but the forward pass.

    class MyModel(CheckpointModel):
        def new_decoder(self, ids, opened): ...  # a Decoder that has read a prompt
        def new_batched_forward(self): ...       # a NewBatch, or None
        def read_all(self, ids): ...             # logits after each id, in one pass
        def digest_parts(self): ...              # what may change the last bits of its logits

A backend writes these four. Prompts, limits, the start token and digests are handled here.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .._support.checks import (
    checked_ids,
    require_prompt_fits,
    require_rewindable,
    require_scorable,
)
from ..errors import SettingsError
from ..interfaces import BatchDecoder, ChatTemplate, Decoder, Logits, Tokenizer
from ._batch_decoder import BatchedForward, CheckedBatchDecoder, checked_prompts, each_row
from ._checks import require_float64
from ._decoder import ArrayDecoder, DeviceDecoder
from ._special_tokens import encode_with_specials, require_tokens_in
from .checkpoint import Checkpoint, StartToken


class NewBatch(BatchedForward, Protocol):
    """A BatchedForward that has read nothing yet."""

    def begin(self, prompts: Sequence[Sequence[int]]) -> Sequence[Logits] | Logits:
        """Read the prompts of rows 0 to len(prompts) - 1: logits float[width] after each.

        There is at least one prompt, and each has at least one id.
        """
        ...


class CheckpointModel(ABC):
    """The part of a LanguageModel that is the same in every backend.

    Several threads may use one model, each with its own Decoders, where the backend's forward pass
    allows it.

    Args:
        tokenizer: has at most `width` ids.
        checkpoint: the files that network and tokenizer are from; None for a model in memory.
        start: what the model reads before a text.
        width: number of logits.
        positions: how many ids the network can read, the start token among them.
        eos_ids: ids that end a text.
        dtype: what the network computes in, such as `float32`.
        logits_dtype: dtype of the logits on the host.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        checkpoint: Checkpoint | None,
        start: StartToken,
        width: int,
        positions: int,
        eos_ids: frozenset[int],
        dtype: str,
        logits_dtype: npt.DTypeLike,
    ) -> None:
        self._tokenizer = tokenizer
        self._checkpoint = checkpoint
        self._start = start
        self._width = width
        self._positions = positions
        self._eos_ids = eos_ids
        self._dtype = dtype
        self._logits_dtype = np.dtype(logits_dtype)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, {self._width:,} logits, {self._dtype}>"

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that the model was trained with."""
        return self._tokenizer

    @property
    def logit_width(self) -> int:
        """Number of logits; may exceed `tokenizer.vocab_size`."""
        return self._width

    @property
    def eos_ids(self) -> frozenset[int]:
        """Ids that end a text."""
        return self._eos_ids

    @property
    def context_length(self) -> int:
        """Most ids that a Decoder can read. One position is the start token's, used or not."""
        return self._positions - 1

    @property
    def chat_template(self) -> ChatTemplate | None:
        """How a conversation is written; None if the model's files do not say."""
        found = self._checkpoint
        if found is None or found.chat_template is None:
            return None
        return ChatTemplate(found.chat_template, found.special_tokens)

    def encode_conversation(self, text: str) -> list[int]:
        """Ids of a conversation that the template wrote, with its special tokens.

        A start token that the model reads before every text is left out.

        Raises:
            PromptError: the model's files name a token that the text has, and the tokenizer does
                not have it.
        """
        if self._checkpoint is not None:
            require_tokens_in(self._tokenizer, text, self._checkpoint.added_tokens)
        ids = encode_with_specials(self._tokenizer, text)
        if self._start.always and ids[:1] == [self._start.token]:
            del ids[0]
        return ids

    def start(self, prompt_ids: Sequence[int], rewindable: int | None = None) -> Decoder:
        """A Decoder that has read `prompt_ids`, after the start token if the model has one.

        Args:
            prompt_ids: the prompt.
            rewindable: see `ticore.interfaces.RewindLimitingModel`.

        Raises:
            PromptError: the prompt exceeds `context_length`, or is empty and there is nothing to
                read in its place.
            SettingsError: an id has no logit, or `rewindable` is negative.
        """
        ids = self.checked(prompt_ids)
        require_prompt_fits(len(ids), self.context_length)
        require_rewindable(rewindable)
        decoder = self.new_decoder(ids, self._start.prepended_to(ids))
        if isinstance(decoder, ArrayDecoder | DeviceDecoder):
            decoder.limit_rewinding(rewindable)
        return decoder

    def start_batch(
        self, prompts: Sequence[Sequence[int]], rewindable: int | None = None
    ) -> BatchDecoder | None:
        """A BatchDecoder whose rows have read `prompts`, each after the start token if any.

        Logits may differ in their last bits from those of a Decoder, and by which rows are read
        side by side.

        Args:
            prompts: ids of each row.
            rewindable: see `BatchModel.start_batch`.

        Returns:
            None where the network cannot read texts side by side, or cannot rewind them.

        Raises:
            PromptError, SettingsError: as `start`; the text names the row.
        """
        require_rewindable(rewindable)
        forward = self.new_batched_forward()
        if forward is None:
            return None
        checked = checked_prompts(self, prompts)
        opened = each_row(self._start.prepended_to, checked)
        logits = forward.begin(opened) if opened else ()
        return CheckedBatchDecoder(
            self, forward, checked, logits, rewindable, self._start.prepended_to
        )

    def score(self, ids: Sequence[int]) -> Logits:
        """Logits float[len(ids), logit_width] in one pass; row i was computed before ids[i].

        Row i is what `start(ids[:i])` computes. It may differ in its last bits from what a Decoder
        gives that reads one id at a time.

        Raises:
            CapacityError: `ids` exceed `context_length` by more than one; the last is not read.
            PromptError: there is no id to read before the first.
            SettingsError: an id has no logit.
        """
        scored = self.checked(ids)
        require_scorable(len(scored), self.context_length)
        read = scored[:-1]
        if not scored:
            return np.empty((0, self._width), self._logits_dtype)
        rows = self.read_all(self._start.prepended_to(read))
        if read and not self._start.always:
            rows = np.concatenate([self.read_all(self._start.prepended_to([])), rows])
        rows.setflags(write=False)
        return rows

    def digest(self) -> str:
        """SHA-256 hex digest of all that may change the last bits of a logit.

        The first call reads the weights, which takes a second or so per GB. Weights that change
        after it are not noticed: make a new model of a network that was trained further.
        """
        return self._digest

    def portable_digest(self) -> str:
        """Hex digest of the checkpoint, the same in every backend.

        Weights that were changed after loading are not noticed here.

        Raises:
            SettingsError: the model does not compute in float64, or was not opened from files.
        """
        require_float64(self._dtype)
        if self._checkpoint is None:
            raise SettingsError(
                "expected a model opened from its files, as portable numerics needs, found one "
                "wrapped in memory; open it with ticore.load_model('torch:DIR', dtype='float64')"
            )
        return self._checkpoint.digest()

    def checked(self, ids: Sequence[int]) -> list[int]:
        """`ids` as plain integers.

        Raises:
            SettingsError: an id has no logit.
        """
        return checked_ids(ids, self._width)

    @cached_property
    def _digest(self) -> str:
        text = json.dumps(dict(self.digest_parts()), sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    @abstractmethod
    def new_decoder(self, ids: list[int], opened: list[int]) -> Decoder:
        """A Decoder of `ids` that has read `opened`: the start token, if any, then `ids`."""

    @abstractmethod
    def new_batched_forward(self) -> NewBatch | None:
        """What reads several texts side by side; None if the network cannot."""

    @abstractmethod
    def read_all(self, ids: list[int]) -> Logits:
        """Logits float[len(ids), width] after each of at least one id, computed in one pass."""

    @abstractmethod
    def digest_parts(self) -> Mapping[str, Any]:
        """What may change the last bits of a logit, by name; the values become JSON."""
