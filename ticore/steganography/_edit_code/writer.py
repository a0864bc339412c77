"""Chooses tokens that tell a frame, until it survives edits."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import numpy as np

from ...codecs import Weights
from .._embedding import STALL_TOKENS, StalledError
from .evidence import Clue, bounds_of, chosen_by, doubt_of, frames_of
from .outer_code import OuterCode
from .trellis import numbers_of_states, states_of
from .windows import NUMBER_BITS, KeyedWindows

_TRIALS = 8
_FIRST_TRIAL = 1.2  # bits that are told, for each bit of the code
_BETWEEN_TRIALS = 1.04  # times as many tokens
_LEAST_SHARE = 1 / 16  # of the last tokens, that must tell something


class EditCodeWriter:
    """A `ticore.codecs.Writer` of one frame.

    Args:
        frame: what to write.
        windows: of the text.
        ids: the tokens of the text, to which the caller appends each that is chosen.
        edits, window: see `ticore.Steganographer`.
        random_bits: `f(n)` gives n random bits.

    Attributes:
        done: whether the frame survives edits.
        settled: how many bits of the frame are told, as far as that can be said.
        clues: what the tokens tell.
    """

    def __init__(
        self,
        frame: bytes,
        windows: KeyedWindows,
        ids: Sequence[int],
        edits: float,
        window: int,
        random_bits: Callable[[int], int],
    ) -> None:
        self.done = False
        self.clues = list[Clue]()
        self._frame = frame
        self._windows = windows
        self._ids = ids
        self._edits = edits
        self._window = window
        self._doubt = doubt_of(edits, window)
        self._random_bits = random_bits
        self._chance = Random(random_bits(64))
        code = OuterCode(len(frame)).encode(frame)
        self._states = states_of(np.unpackbits(np.frombuffer(code, dtype=np.uint8)))
        self._wanted = _FIRST_TRIAL * 8 * len(code) / (1 - self._doubt)
        self._expected = self._wanted  # bits that will be told at the next trial
        self._told = 0.0
        self._next_trial = 0
        self._last_tell = deque[bool](maxlen=STALL_TOKENS)  # whether each of the last tokens does

    @property
    def settled(self) -> int:
        bits = 8 * len(self._frame)
        # It need not survive edits as soon as enough is told, so the last bit is kept back. After
        # a trial that fails some bits are taken back, so that they grow while the text does.
        return bits if self.done else min(bits - 1, int(bits * self._told / self._expected))

    def choose(self, weights: Weights) -> int:
        """See `ticore.codecs.Writer`.

        Raises:
            StalledError: the text goes round among a few windows. Each tells something once.
        """
        draw = self._windows.before(self._ids)
        self._require_new_windows(draw is not None)
        if draw is None:
            return chosen_by(self._random_bits(NUMBER_BITS), weights)
        numbers = numbers_of_states(draw.mixing, draw.mask)
        state = self._states[draw.place % len(self._states)]
        index = chosen_by(int(numbers[state]), weights)
        clue = Clue.of(draw.place, numbers, bounds_of(weights, index))
        self.clues.append(clue)
        self._told += clue.bits
        if not self.done and self._told >= self._wanted and len(self.clues) >= self._next_trial:
            self.done = self._survives()
            self._expected = _BETWEEN_TRIALS * self._told
            self._next_trial = int(_BETWEEN_TRIALS * len(self.clues)) + 1
        return index

    def _require_new_windows(self, is_new: bool) -> None:
        """Take note of a window. Raises StalledError."""
        last = self._last_tell
        last.append(is_new)
        if not self.done and len(last) == STALL_TOKENS and sum(last) < _LEAST_SHARE * STALL_TOKENS:
            raise StalledError(
                f"only {sum(last)} of the last {STALL_TOKENS} tokens follow a window that the text "
                f"has not had before: the model repeats itself; give a larger window, raise "
                f"temperature or top_k, or try another prompt"
            )

    def _survives(self) -> bool:
        """Whether the frame is read after random edits."""
        return all(
            self._frame in frames_of(self._edited(), len(self._frame), self._doubt)
            for _ in range(_TRIALS)
        )

    def _edited(self) -> list[Clue]:
        """What is told after random edits: a token near an edit is about any step."""
        count, random = len(self.clues), self._chance.random
        spoiled = np.zeros(count + self._window + 2, dtype=bool)
        for place in range(count):
            if random() < self._edits:
                # The token before may be read differently too.
                spoiled[max(0, place - 1) : place + self._window + 1] = True
        return [
            replace(clue, place=self._chance.getrandbits(64)) if spoiled[number] else clue
            for number, clue in enumerate(self.clues)
        ]
