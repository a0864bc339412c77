"""One text that is being read: what every Decoder remembers and checks.

    decoder = DeviceDecoder(model, reader, prompt, opened)   # has read the prompt
    decoder.push(17)                                         # checked, then read by the reader

A backend brings a `CachedForward`, which computes. Ids, logits to come back to, and checks are the
same in every backend and are kept here. `_batch_decoder` is the same for texts side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from .._support.checks import HasLimits, checked_ids, require, require_pushed, require_room
from ..interfaces import Logits
from ._uninterrupted import Uninterrupted

Kept = TypeVar("Kept")
Kept_co = TypeVar("Kept_co", covariant=True)


class CachedForward(Protocol[Kept_co]):
    """The part of a Decoder that computes. Its arguments have been checked."""

    def begin(self, ids: Sequence[int]) -> Kept_co:
        """Read a prompt of at least one id, at once: the logits after it."""
        ...

    def push(self, token: int) -> Kept_co:
        """Read one more id alone: the logits after it.

        They are the same bits for the same prompt and ids, independent of rewinds in between.
        """
        ...

    def rewind(self, count: int) -> None:
        """Forget the last `count` pushed ids."""
        ...


class ManyForward(CachedForward[Logits], Protocol):
    """One that reads many ids of a known text faster than one after the other."""

    def push_many(self, tokens: Sequence[int]) -> Logits:
        """Read one or more ids: the logits float[n, width] after each, as `push` gives them."""
        ...


class DeviceLogits(Protocol):
    """Logits after one id, on a device."""

    @property
    def whole(self) -> Logits:
        """All of them, on the host and read-only."""
        ...

    def top(self, count: int) -> tuple[npt.NDArray[np.int64], Logits]:
        """The `count` largest, the largest first, NaN before all: ids int64[count] and logits."""
        ...


class _DecoderBase(Generic[Kept]):
    """The part that both Decoders share.

    The logits after each pushed id are kept, so that `rewind` computes nothing. That takes 0.6 MB
    per id for a vocabulary of 150,000 in float32, unless `limit_rewinding` is called.

    Args:
        model: the model, for its number of logits and its context length.
        reader: computes; it has read nothing yet.
        prompt: ids of the prompt.
        opened: the ids that are read for the prompt, such as a start token and the prompt.
    """

    def __init__(
        self,
        model: HasLimits,
        reader: CachedForward[Kept],
        prompt: Sequence[int],
        opened: Sequence[int],
    ) -> None:
        self._model = model
        self._reader = reader
        self._ids = list(prompt)
        self._kept = [reader.begin(opened)]  # after the prompt, then after each pushed id
        self._rewindable: int | None = None
        self._reading = Uninterrupted()

    @property
    def ids(self) -> Sequence[int]:
        """The prompt's ids, then the pushed ones."""
        return tuple(self._ids)

    def push(self, token: int) -> None:
        """Read one more id.

        Raises:
            CapacityError: the context is full.
            InconsistentStateError: an earlier call was interrupted, or failed for want of memory.
            SettingsError: the id has no logit.
        """
        (checked,) = checked_ids([token], self._model.logit_width)
        require_room(len(self._ids), self._model.context_length)
        with self._reading.step():
            self._kept.append(self._reader.push(checked))
            self._ids.append(checked)
        if self._rewindable is not None:
            del self._kept[: -self._rewindable - 1]

    def limit_rewinding(self, most: int | None) -> None:
        """Keep the logits after the last `most` ids alone, to which `rewind` then goes back."""
        self._rewindable = most

    def rewind(self, count: int) -> None:
        """Forget the last `count` pushed ids, without computing anything.

        Raises:
            SettingsError: `count` is negative or exceeds what can be rewound.
            InconsistentStateError: as `push`.
        """
        count = require_pushed(count, len(self._kept) - 1)
        if count:
            with self._reading.step():
                del self._ids[-count:], self._kept[-count:]
                self._reader.rewind(count)


class ArrayDecoder(_DecoderBase[Any]):
    """A Decoder that gives logits as its reader gives them.

    Args:
        model: the model, for its number of logits and its context length.
        reader: computes the logits as arrays; it has read nothing yet.
        prompt: ids of the prompt.
        opened: the ids that are read for the prompt, such as a start token and the prompt.
    """

    def logits(self) -> Logits:
        """Logits float[logit_width] of the next token; the caller must not write into them."""
        logits: Logits = self._kept[-1]
        return logits


class ManyDecoder(ArrayDecoder):
    """One that also reads many ids at once.

    Args:
        model, prompt, opened: see ArrayDecoder.
        reader: computes the logits as arrays; it has read nothing yet.
    """

    def __init__(
        self,
        model: HasLimits,
        reader: ManyForward,
        prompt: Sequence[int],
        opened: Sequence[int],
    ) -> None:
        super().__init__(model, reader, prompt, opened)
        self._many = reader

    def push_many(self, tokens: Sequence[int]) -> Logits:
        """Read one or more ids; see `ticore.interfaces.ManyTokenDecoder`."""
        checked = checked_ids(tokens, self._model.logit_width)
        require(bool(checked), "tokens", "one or more", tokens)
        require_room(len(self._ids), self._model.context_length, len(checked))
        with self._reading.step():
            rows = self._many.push_many(checked)
            self._kept.extend(rows)
            self._ids.extend(checked)
        if self._rewindable is not None:
            del self._kept[: -self._rewindable - 1]
        return rows


class DeviceDecoder(_DecoderBase[DeviceLogits]):
    """A TopDecoder whose logits stay on their device until they are asked for.

    Args:
        model: the model, for its number of logits and its context length.
        reader: computes the logits as `DeviceLogits`; it has read nothing yet.
        prompt: ids of the prompt.
        opened: the ids that are read for the prompt, such as a start token and the prompt.
    """

    def logits(self) -> Logits:
        """Logits float[logit_width] of the next token, read-only; float32 if not float64."""
        return self._kept[-1].whole

    def top(self, count: int) -> tuple[npt.NDArray[np.int64], Logits]:
        """The next token's `count` largest logits, largest first: ids int64[count] and logits.

        All of them, if there are fewer.
        """
        return self._kept[-1].top(min(count, self._model.logit_width))
