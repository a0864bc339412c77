"""Which tokens may come next so that the list stays consistent.

`Verifier` belongs to a tokenizer, `Verification` to one text that grows and shrinks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from ..errors import InconsistentStateError, SettingsError
from ..interfaces import Tokenizer
from ..limits import checked_ids
from ..registry import as_tokenizer
from . import channel_engine
from .boundaries import Specials
from .channel_engine import ChannelEngine
from .channels import PASSAGES, Channel
from .cut_engine import CutEngine
from .engine import Bools, Engine
from .mask import table_engine
from .modes import Mode
from .oracle import Oracle
from .part import Part
from .recent import Recent
from .tail import CutFinder, cut_finder
from .trial import Trial, compare, require_sound

View = Literal["whole", "continuation"]
Rung = Literal["mask", "tail", "oracle"]
RUNGS: tuple[Rung, ...] = get_args(Rung)


class Verifier:
    """Verifies candidates for one tokenizer, by the fastest way that is exact for it.

    It never changes, so a copy is itself; pickled, it is made anew from its arguments.

    Args:
        tokenizer: whose encode the receiver will use; or one of another library, such as
            transformers, see `ticore.registry.as_tokenizer`.
        mode: what a text may begin with while it grows: `prefix`, only what would be consistent as
            a finished text (the paper's stepwise verification); `open`, also what ends inside a
            character; `viable`, also what some continuation makes consistent.
        view: what the receiver retokenises: `whole`, the prompt with its continuation, or
            `continuation` alone.
        rung: the way to verify; None picks the fastest.
        channel: what happens to the text before the receiver retokenises it: nothing (`identity`),
            or as `ticore.consistency.channels` says of `strip`, `nfc`, `newlines` and `spaces`.
            A list is consistent if encode(channel(decode(list))) gives it back.
        specials: what special tokens in a list do, such as those of a chat or an end of text.
            `boundaries`: the receiver keeps them and reads each part between them by itself, see
            `ticore.consistency.boundaries`; a part must be finished before one comes. `refused`: a
            list that holds one is not consistent, as for a receiver who has the text alone. Either
            way special ids are no candidates, and an id for unknown text is never consistent.

    Attributes:
        rung: `mask` decides from tables, `tail` retokenises what follows the last stable cut,
            `oracle` the whole list. All give the same answers. On the faster two, candidates that
            the channel changes are refused without any retokenisation; but where the mode is
            `open` or `viable` and what follows decides about that, the whole list is retokenised.
        why: why no faster rung is used; empty at the fastest.
        checks: on how many candidates the rung was compared with the definition beforehand.

    Raises:
        SettingsError: unknown mode, view, rung, channel or specials; a rung that is not exact for
            this tokenizer; one that encodes by chance or does not read back what it wrote; no
            tokenizer at all.
    """

    def __init__(
        self,
        tokenizer: Tokenizer | object,
        mode: Mode = "prefix",
        view: View = "whole",
        rung: Rung | None = None,
        channel: Channel = "identity",
        specials: Specials = "boundaries",
    ) -> None:
        _expect_one_of("mode", mode, get_args(Mode))
        _expect_one_of("view", view, get_args(View))
        if rung is not None:
            _expect_one_of("rung", rung, RUNGS)
        _expect_one_of("channel", channel, get_args(Channel))
        _expect_one_of("specials", specials, get_args(Specials))
        self.tokenizer = tokenizer = as_tokenizer(tokenizer)
        self.mode: Mode = mode
        self.view: View = view
        self.channel: Channel = channel
        self.specials: Specials = specials
        self._asked = rung
        # A way holds its tokenizer, so while it is kept no other one has the same identity.
        key = id(tokenizer), mode, rung, channel
        self._way = _WAYS.get(key, lambda: _way(tokenizer, mode, rung, channel))
        self.rung: Rung = self._way.rung
        self.why = self._way.why
        self.checks = self._way.checks

    def start(self, prompt_ids: Sequence[int] = ()) -> Verification:
        """A text that begins with `prompt_ids`; in view `continuation` it begins empty."""
        ids = prompt_ids if self.view == "whole" else ()
        way = self._way
        return Verification(way.engine, way.oracle, way.cuts, ids, self.specials, self)

    def __reduce__(self) -> tuple[Any, ...]:
        settings = self.mode, self.view, self._asked, self.channel, self.specials
        return Verifier, (self.tokenizer, *settings)

    def __copy__(self) -> Verifier:
        return self

    def __deepcopy__(self, memo: object) -> Verifier:
        return self


@dataclass(frozen=True, eq=False)
class _Way:
    """How one tokenizer is verified.

    Attributes:
        oracle: the definition.
        engine: what answers, proved on random lists.
        cuts: where an inconsistent list need not be looked at; None if that is not known.
        rung, why, checks: see Verifier.
    """

    oracle: Oracle
    engine: Engine[Any]
    cuts: CutFinder | None
    rung: Rung
    why: str
    checks: int


# The last few are kept: a program makes many verifiers for few tokenizers, and what an engine has
# found out about candidates serves all of them.
_WAYS: Recent[tuple[object, ...], _Way] = Recent(4)


def _way(tokenizer: Tokenizer, mode: Mode, rung: Rung | None, channel: Channel) -> _Way:
    """The fastest way, or that of `rung`; raises as Verifier."""
    require_sound(tokenizer)
    oracle = Oracle(tokenizer, mode, channel)
    # A cut is stable while the text grows, not while its end changes on the way.
    finder = cut_finder(tokenizer) if channel == "identity" else ""
    cuts = None if isinstance(finder, str) else finder
    reasons: list[str] = []
    for name in RUNGS if rung is None else (rung,):
        engine = _engine(name, oracle)
        trial = Trial(0)
        if not isinstance(engine, str) and name != "oracle":
            trial = compare(engine, oracle, from_masks=name == "mask")
        if not isinstance(engine, str) and not trial.wrong:
            why = "asked for" if rung not in (None, "mask") else "; ".join(reasons)
            return _Way(oracle, engine, cuts, name, why, trial.checks)
        reasons.append(f"{name}: {trial.wrong or engine}")
    raise SettingsError(f"the rung {rung!r} is not exact here: {reasons[0]}; use 'oracle'")


def forget(tokenizer: Tokenizer) -> None:
    """Keep nothing of what was found out about `tokenizer`."""
    _WAYS.drop(lambda key: key[0] == id(tokenizer))


def _engine(rung: Rung, oracle: Oracle) -> Engine[Any] | str:
    """The engine of a rung, or why there is none."""
    if rung == "oracle":
        return CutEngine(oracle, None)
    tokenizer, channel = oracle.tokenizer, oracle.channel
    plain = Oracle(tokenizer, oracle.mode)
    engine: Engine[Any] | str
    if rung == "tail":
        finder = cut_finder(tokenizer)
        engine = finder if isinstance(finder, str) else CutEngine(plain, finder)
    else:
        engine = table_engine(plain)
    if channel == "identity" or isinstance(engine, str):
        return engine
    return channel_engine.obstacle(tokenizer.structure()) or ChannelEngine(
        engine, PASSAGES[channel], oracle
    )


class Verification:
    """One list of tokens and which tokens may follow it.

    It takes any token, also one that makes the list inconsistent; `admits` and `mask` speak of
    lists that a text may begin with. After a boundary the list goes on as if it began there.

    A copy goes on by itself. Pickled, its verifier and its ids are kept, which are read anew.
    """

    def __init__(
        self,
        engine: Engine[Any],
        oracle: Oracle,
        cuts: CutFinder | None,
        ids: Sequence[int],
        specials: Specials = "boundaries",
        verifier: Verifier | None = None,
    ) -> None:
        self._verifier = verifier
        self._engine = engine
        self._special = oracle.tokenizer.special_ids
        self._size = oracle.tokenizer.vocab_size
        self._boundaries = oracle.boundaries if specials == "boundaries" else frozenset[int]()
        self._begun = partial(Part, engine, oracle, cuts)
        self._ids: list[int] = []
        # One more than the list has boundaries; all but the last are consistent.
        self._parts = [self._begun()]
        # How many ids stand before the first special one that leaves the list inconsistent, which
        # nothing mends; None if there is none. What follows it is in no part.
        self._broken_at: int | None = None
        for token in ids:
            self.push(token)
        self._given = len(self._ids)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._verifier is None:
            raise TypeError(
                "expected a Verification that Verifier.start made, found one without a Verifier; "
                "pickle its ids, and start from them"
            )
        return _restored, (self._verifier, tuple(self._ids), self._given)

    def __copy__(self) -> Verification:
        copy = Verification.__new__(Verification)
        vars(copy).update(vars(self))
        copy._ids, copy._parts = self._ids.copy(), [part.copy() for part in self._parts]
        return copy

    def __deepcopy__(self, memo: object) -> Verification:
        return self.__copy__()

    @property
    def ids(self) -> Sequence[int]:
        """The list: the given ids, then those pushed."""
        return self._ids

    @property
    def consistent(self) -> bool:
        """Whether the list survives: encode(decode(part)) == part for each of its parts."""
        return self._broken_at is None and self._parts[-1].consistent

    @property
    def admissible(self) -> bool:
        """Whether a text may begin with the list, as the mode has it."""
        return self._broken_at is None and self._parts[-1].state is not None

    @property
    def lost(self) -> bool:
        """Whether no continuation makes the list consistent again, as far as that is known.

        Some tokens no tokenizer's output holds after others, and what stands before a stable cut
        or a boundary is read by itself, whatever follows.
        """
        return self._broken_at is not None or self._parts[-1].lost

    def finished_ok(self) -> bool:
        """Whether the text may end here, which in every mode means that the list is consistent."""
        return self.consistent

    def admits(self, candidates: Iterable[int]) -> Bools:
        """For each candidate id, whether a text may begin with the list followed by it: bool[n].

        Raises InconsistentStateError while no text may begin with the list itself.
        """
        return self._engine.admits(self._state(), np.asarray(_ints(candidates), dtype=np.int64))

    def mask(self) -> Bools:
        """`admits` of the whole vocabulary: bool[vocab_size]. Raises as `admits`."""
        return self._engine.mask(self._state())

    def push(self, token: int) -> None:
        """Append any one id.

        Raises SettingsError for an id that the tokenizer does not have.
        """
        token = int(token)
        if token in self._special:
            self._push_special(token)
        elif not 0 <= token < self._size:
            checked_ids((token,), self._size)  # which says what is wrong
        elif self._broken_at is None:
            self._parts[-1].push(token)
        self._ids.append(token)

    def rewind(self, count: int) -> None:
        """Take back the last `count` ids that were pushed.

        Raises SettingsError where fewer were pushed.
        """
        pushed = len(self._ids) - self._given
        if not 0 <= count <= pushed:
            raise SettingsError(f"rewind: expected 0 to {pushed} ids, found {count}")
        left = len(self._ids) - count
        if self._broken_at is not None:
            del self._ids[max(left, self._broken_at) :]
            if left <= self._broken_at:
                self._broken_at = None
        while (count := len(self._ids) - left) > 0:
            if in_part := min(count, len(self._parts[-1].ids)):
                self._parts[-1].rewind(in_part)
                del self._ids[-in_part:]
            else:  # the boundary before it
                self._parts.pop()
                self._ids.pop()

    def _state(self) -> Any:
        if not self.admissible:
            raise InconsistentStateError(
                "candidates can be verified after a consistent list only, and this one is not; "
                "rewind it to where `admissible` was True"
            )
        return self._parts[-1].state

    def _push_special(self, token: int) -> None:
        """A boundary after a finished part begins another one; nothing mends any other list."""
        if self._broken_at is not None:
            return
        if token in self._boundaries and self.consistent:
            self._parts.append(self._begun())
        else:
            self._broken_at = len(self._ids)


def _restored(verifier: Verifier, ids: Sequence[int], given: int) -> Verification:
    """A Verification as it was, of whose ids the first `given` cannot be taken back."""
    verification = verifier.start()
    for token in ids:
        verification.push(token)
    verification._given = given
    return verification


def _ints(candidates: Iterable[int]) -> Any:
    return candidates if isinstance(candidates, np.ndarray) else list(candidates)


def _expect_one_of(name: str, found: str, known: Sequence[str]) -> None:
    if found not in known:
        raise SettingsError(f"{name}: expected one of {', '.join(known)}, found {found!r}")
