"""Which tokens may come next so that the list stays consistent.

`Verifier` belongs to a tokenizer, `Verification` to one text that grows and shrinks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from ..errors import InconsistentStateError, SettingsError
from ..interfaces import Tokenizer
from . import oracle
from .tail import CutFinder, cut_finder

Mode = Literal["prefix"]
View = Literal["whole", "continuation"]
Rung = Literal["tail", "oracle"]


class Verifier:
    """Verifies candidates for one tokenizer, by the fastest way that is exact for it.

    Args:
        tokenizer: whose encode the receiver will use.
        mode: `prefix`: every prefix of the list is consistent, the paper's stepwise verification.
        view: what the receiver retokenises: `whole`, the prompt with its continuation, or
            `continuation` alone.
        rung: the way to verify; None picks the fastest.

    Attributes:
        rung: `tail` retokenises what follows the last stable cut, `oracle` the whole list.
        why: why no faster rung is used; empty at the fastest.

    Raises:
        SettingsError: unknown mode, view or rung, or a rung that is not exact for this tokenizer.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        mode: Mode = "prefix",
        view: View = "whole",
        rung: Rung | None = None,
    ) -> None:
        _expect_one_of("mode", mode, get_args(Mode))
        _expect_one_of("view", view, get_args(View))
        if rung is not None:
            _expect_one_of("rung", rung, get_args(Rung))
        self.tokenizer = tokenizer
        self.mode: Mode = mode
        self.view: View = view
        self._cuts: CutFinder | None = None
        self.why = ""
        if rung == "oracle":
            self.why = "asked for"
        else:
            finder = cut_finder(tokenizer)
            if isinstance(finder, str):
                self.why = finder
                if rung == "tail":
                    raise SettingsError(f"the tail rung is not exact here: {finder}; use 'oracle'")
            else:
                self._cuts = finder
        self.rung: Rung = "oracle" if self._cuts is None else "tail"

    def start(self, prompt_ids: Sequence[int] = ()) -> Verification:
        """A text that begins with `prompt_ids`; in view `continuation` it begins empty."""
        ids = prompt_ids if self.view == "whole" else ()
        return Verification(self.tokenizer, self._cuts, ids)


class Verification:
    """One list of tokens and which tokens may follow it.

    It takes any token, also one that makes the list inconsistent; `admits` and `mask` speak of
    consistent lists only.
    """

    def __init__(self, tokenizer: Tokenizer, cuts: CutFinder | None, ids: Sequence[int]) -> None:
        self._tokenizer = tokenizer
        self._finder = cuts
        self._ids = list(ids)
        self._given = len(self._ids)
        # One entry for each push: the last stable cut, and whether the list was consistent.
        # A cut stays stable when inconsistent tokens follow it, since no continuation moves it.
        self._cuts = [0]
        self._consistent = [oracle.is_consistent(tokenizer, self._ids)]
        self._advance()

    @property
    def ids(self) -> Sequence[int]:
        """The list: the given ids, then those pushed."""
        return self._ids

    @property
    def consistent(self) -> bool:
        """Whether the list survives: encode(decode(ids)) == ids."""
        return self._consistent[-1]

    def admits(self, candidates: Iterable[int]) -> npt.NDArray[np.bool_]:
        """For each candidate id, whether the list followed by it is consistent: bool[n].

        Raises InconsistentStateError while the list itself is inconsistent.
        """
        if not self.consistent:
            raise InconsistentStateError(
                "candidates can be verified after a consistent list only, and this one is not; "
                "rewind it to where `consistent` was True"
            )
        return oracle.admits(self._tokenizer, self._tail(), candidates)

    def mask(self) -> npt.NDArray[np.bool_]:
        """`admits` of the whole vocabulary: bool[vocab_size]. Raises as `admits`."""
        return self.admits(range(self._tokenizer.vocab_size))

    def push(self, token: int) -> None:
        """Append any one id."""
        self._ids.append(int(token))
        self._consistent.append(oracle.is_consistent(self._tokenizer, self._tail()))
        self._cuts.append(self._cuts[-1])
        self._advance()

    def rewind(self, count: int) -> None:
        """Take back the last `count` ids that were pushed.

        Raises SettingsError where fewer were pushed.
        """
        pushed = len(self._ids) - self._given
        if not 0 <= count <= pushed:
            raise SettingsError(f"rewind: expected 0 to {pushed} ids, found {count}")
        if count:
            del self._ids[-count:], self._cuts[-count:], self._consistent[-count:]

    def _tail(self) -> list[int]:
        return self._ids[self._cuts[-1] :]

    def _advance(self) -> None:
        if self._finder is not None and self._consistent[-1]:
            self._cuts[-1] = self._finder.advance(self._ids, self._cuts[-1])


def _expect_one_of(name: str, found: str, known: Sequence[str]) -> None:
    if found not in known:
        raise SettingsError(f"{name}: expected one of {', '.join(known)}, found {found!r}")
