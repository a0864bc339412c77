"""Which tokens may come next so that the list stays consistent.

`Verifier` belongs to a tokenizer, `Verification` to one text that grows and shrinks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal, get_args

import numpy as np

from ..errors import InconsistentStateError, SettingsError
from ..interfaces import Tokenizer
from . import channel_engine
from .channel_engine import ChannelEngine
from .channels import PASSAGES, Channel
from .cut_engine import CutEngine
from .engine import Bools, Engine, Hope
from .mask import table_engine
from .modes import Mode
from .oracle import Oracle
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
        tokenizer: whose encode the receiver will use.
        mode: what a text may begin with while it grows: `prefix`, only what would be consistent as
            a finished text (the paper's stepwise verification); `open`, also what ends inside a
            character; `viable`, also what some continuation makes consistent.
        view: what the receiver retokenises: `whole`, the prompt with its continuation, or
            `continuation` alone.
        rung: the way to verify; None picks the fastest.
        channel: what happens to the text before the receiver retokenises it: nothing (`identity`),
            or as `ticore.consistency.channels` says of `strip`, `nfc`, `newlines` and `spaces`.
            A list is consistent if encode(channel(decode(list))) gives it back.

    Attributes:
        rung: `mask` decides from tables, `tail` retokenises what follows the last stable cut,
            `oracle` the whole list. All give the same answers. On the faster two, candidates that
            the channel changes are refused without any retokenisation; but where the mode is
            `open` or `viable` and what follows decides about that, the whole list is retokenised.
        why: why no faster rung is used; empty at the fastest.
        checks: on how many candidates the rung was compared with the definition beforehand.

    Raises:
        SettingsError: unknown mode, view, rung or channel; a rung that is not exact for this
            tokenizer; a tokenizer that encodes by chance or does not read back what it wrote.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        mode: Mode = "prefix",
        view: View = "whole",
        rung: Rung | None = None,
        channel: Channel = "identity",
    ) -> None:
        _expect_one_of("mode", mode, get_args(Mode))
        _expect_one_of("view", view, get_args(View))
        if rung is not None:
            _expect_one_of("rung", rung, RUNGS)
        _expect_one_of("channel", channel, get_args(Channel))
        self.tokenizer = tokenizer
        self.mode: Mode = mode
        self.view: View = view
        self.channel: Channel = channel
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
        return Verification(self._way.engine, self._way.oracle, self._way.cuts, ids, self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Verifier, (self.tokenizer, self.mode, self.view, self._asked, self.channel)

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
    lists that a text may begin with.

    A copy goes on by itself. Pickled, its verifier and its ids are kept, which are read anew.
    """

    def __init__(
        self,
        engine: Engine[Any],
        oracle: Oracle,
        cuts: CutFinder | None,
        ids: Sequence[int],
        verifier: Verifier | None = None,
    ) -> None:
        self._verifier = verifier
        self._engine = engine
        self._oracle = oracle
        self._finder = cuts
        self._ids: list[int] = []
        # The engine's state after each push; None where no text may begin with the list. There
        # `_asides` has what tells whether it is mended later on.
        self._states: list[Any] = [engine.start()]
        self._asides: list[Any] = [None]
        # How many of the first ids a text may begin with, at most; after each push.
        self._goods: list[int] = [0]
        # (number of ids, cut) of admissible beginnings of the list whose last stable cut was asked
        # for, ascending in both.
        self._known_cuts: list[tuple[int, int]] = []
        # For each id behind the first `_trail_from` the engine's state, and whether it is lost.
        self._trail: list[tuple[Any, bool]] = []
        self._trail_from = 0
        # In this mode whatever may begin a text may be all of it.
        self._ends_anywhere = oracle.mode == "prefix"
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
        copy = Verification(self._engine, self._oracle, self._finder, (), self._verifier)
        # States never change, and may be shared; lists of them may not.
        copy._ids, copy._given = self._ids.copy(), self._given
        copy._states, copy._asides = self._states.copy(), self._asides.copy()
        copy._goods, copy._known_cuts = self._goods.copy(), self._known_cuts.copy()
        return copy

    def __deepcopy__(self, memo: object) -> Verification:
        return self.__copy__()

    @property
    def ids(self) -> Sequence[int]:
        """The list: the given ids, then those pushed."""
        return self._ids

    @property
    def consistent(self) -> bool:
        """Whether the list survives: encode(decode(ids)) == ids."""
        state = self._states[-1]
        if state is None:
            return False
        # The empty list is taken for admissible without asking.
        return (self._ends_anywhere and bool(self._ids)) or self._engine.finished_ok(state)

    @property
    def admissible(self) -> bool:
        """Whether a text may begin with the list, as the mode has it."""
        return self._states[-1] is not None

    @property
    def lost(self) -> bool:
        """Whether no continuation makes the list consistent again, as far as that is known.

        Some tokens no tokenizer's output holds behind others, and what stands before a stable cut
        is read by itself, whatever follows.
        """
        if self.admissible:
            return False
        good = self._goods[-1]
        state, is_lost = self._walk_trail(good)
        if is_lost:
            return True
        kept = self._engine.kept(state)
        if kept is not None:
            return len(self._ids) - kept > good
        return self._finder is not None and self._finder.advance(self._ids, self._cut(good)) > good

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
        """Append any one id."""
        token = int(token)
        before, aside = self._states[-1], self._asides[-1]
        if before is None and isinstance(aside, Hope):
            state = self._mended_by(token) if aside is Hope.UNKNOWN else None
        else:
            # An engine that gave a state aside answers from it as well.
            before = aside if before is None else before
            state = self._engine.follow(before, token)
            aside = self._engine.aside(before, token) if state is None else None
        self._ids.append(token)
        self._states.append(state)
        self._asides.append(None if state is not None else aside)
        self._goods.append(self._goods[-1] if state is None else len(self._ids))

    def rewind(self, count: int) -> None:
        """Take back the last `count` ids that were pushed.

        Raises SettingsError where fewer were pushed.
        """
        pushed = len(self._ids) - self._given
        if not 0 <= count <= pushed:
            raise SettingsError(f"rewind: expected 0 to {pushed} ids, found {count}")
        if count:
            for pushed_with in (self._ids, self._states, self._asides, self._goods):
                del pushed_with[-count:]
            left = len(self._ids)
            while self._known_cuts and self._known_cuts[-1][0] > left:
                self._known_cuts.pop()
            del self._trail[max(0, left - self._trail_from) :]

    def _state(self) -> Any:
        if not self.admissible:
            raise InconsistentStateError(
                "candidates can be verified after a consistent list only, and this one is not; "
                "rewind it to where `admissible` was True"
            )
        return self._states[-1]

    def _mended_by(self, token: int) -> Any:
        """The state after `token`, if a text may begin with the list again; else None."""
        good = self._goods[-1]
        # Inconsistent tokens behind a stable cut do not move it, since no continuation does.
        if not self._oracle.may_begin([*self._ids[self._cut(good) :], token]):
            return None
        return reduce(self._engine.step, (*self._ids[good:], token), self._states[good])

    def _cut(self, good: int) -> int:
        """The last stable cut of the first `good` ids, which a text may begin with."""
        if self._finder is None:
            return 0
        before, cut = self._known_cuts[-1] if self._known_cuts else (0, 0)
        if before < good:
            cut = self._finder.advance(self._ids[:good], cut)
            self._known_cuts.append((good, cut))
        return cut

    def _walk_trail(self, good: int) -> tuple[Any, bool]:
        """The engine's state of the list, and whether some id behind the good ones lost it."""
        if self._trail_from != good:
            self._trail, self._trail_from = [], good
        state, is_lost = self._trail[-1] if self._trail else (self._states[good], False)
        for token in self._ids[good + len(self._trail) :]:
            if not is_lost:
                is_lost = self._engine.loses(state, token)
                state = self._engine.step(state, token)
            self._trail.append((state, is_lost))
        return state, is_lost


def _restored(verifier: Verifier, ids: Sequence[int], given: int) -> Verification:
    """A Verification as it was, of whose ids the first `given` cannot be taken back."""
    verification = verifier.start(ids[:given])
    for token in ids[given:]:
        verification.push(token)
    return verification


def _ints(candidates: Iterable[int]) -> Any:
    return candidates if isinstance(candidates, np.ndarray) else list(candidates)


def _expect_one_of(name: str, found: str, known: Sequence[str]) -> None:
    if found not in known:
        raise SettingsError(f"{name}: expected one of {', '.join(known)}, found {found!r}")
