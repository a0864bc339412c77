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
from .recent import Recent
from .tail import CutFinder, cut_finder
from .trial import Trial, compare, require_sound

View = Literal["whole", "continuation"]
Rung = Literal["mask", "tail", "oracle"]
RUNGS: tuple[Rung, ...] = get_args(Rung)


class Verifier:
    """Verifies candidates for one tokenizer, by the fastest way that is exact for it.

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
        return Verification(way.engine, way.oracle, way.cuts, ids, self.specials)


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
    """

    def __init__(
        self,
        engine: Engine[Any],
        oracle: Oracle,
        cuts: CutFinder | None,
        ids: Sequence[int],
        specials: Specials = "boundaries",
    ) -> None:
        self._engine = engine
        self._oracle = oracle
        self._finder = cuts
        self._ids: list[int] = []
        self._special = oracle.tokenizer.special_ids
        self._size = oracle.tokenizer.vocab_size
        self._boundaries = oracle.boundaries if specials == "boundaries" else frozenset[int]()
        # Where the parts begin that come after a boundary.
        self._begins: list[int] = []
        # The engine's state of the last part after each push; None where no text may begin with
        # the list.
        self._states: list[Any] = [engine.start()]
        # In this mode whatever may begin a text may be all of it.
        self._ends_anywhere = oracle.mode == "prefix"
        for token in ids:
            self.push(token)
        self._given = len(self._ids)

    @property
    def ids(self) -> Sequence[int]:
        """The list: the given ids, then those pushed."""
        return self._ids

    @property
    def consistent(self) -> bool:
        """Whether the list survives: encode(decode(part)) == part for each of its parts."""
        state = self._states[-1]
        if state is None:
            return False
        # The empty list is taken for admissible without asking; so is an empty part.
        anywhere = self._ends_anywhere and bool(self._ids)
        return anywhere or self._part() == len(self._ids) or self._engine.finished_ok(state)

    @property
    def admissible(self) -> bool:
        """Whether a text may begin with the list, as the mode has it."""
        return self._states[-1] is not None

    @property
    def lost(self) -> bool:
        """Whether no continuation makes the list consistent again, as far as that is known.

        Some tokens no tokenizer's output holds after others, and what stands before a stable cut
        or a boundary is read by itself, whatever follows.
        """
        if self.admissible:
            return False
        good = self._good()
        if not self._special.isdisjoint(self._ids[good:]):
            return True
        state = self._states[good]
        for token in self._ids[good:]:
            if self._engine.loses(state, token):
                return True
            state = self._engine.step(state, token)
        begin = self._part()
        return (
            self._finder is not None and begin + self._finder.advance(self._ids[begin:], 0) > good
        )

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
        before = self._states[-1]
        if token in self._special:
            state = self._after_special(token)
        elif not 0 <= token < self._size:
            checked_ids((token,), self._size)  # which says what is wrong
        elif before is None:
            state = self._mended_by(token)
        else:
            state = self._engine.follow(before, token)
        self._ids.append(token)
        self._states.append(state)

    def rewind(self, count: int) -> None:
        """Take back the last `count` ids that were pushed.

        Raises SettingsError where fewer were pushed.
        """
        pushed = len(self._ids) - self._given
        if not 0 <= count <= pushed:
            raise SettingsError(f"rewind: expected 0 to {pushed} ids, found {count}")
        if count:
            del self._ids[-count:], self._states[-count:]
            while self._begins and self._begins[-1] > len(self._ids):
                self._begins.pop()

    def _state(self) -> Any:
        if not self.admissible:
            raise InconsistentStateError(
                "candidates can be verified after a consistent list only, and this one is not; "
                "rewind it to where `admissible` was True"
            )
        return self._states[-1]

    def _good(self) -> int:
        """How many of the first ids a text may begin with, at most."""
        counts = reversed(range(len(self._states)))
        return next(count for count in counts if self._states[count] is not None)

    def _part(self) -> int:
        """Where the last part begins."""
        return self._begins[-1] if self._begins else 0

    def _after_special(self, token: int) -> Any:
        """The state after a special id: that of an empty part, where it ends a finished one."""
        if token not in self._boundaries or not self.consistent:
            return None
        self._begins.append(len(self._ids) + 1)
        return self._engine.start()

    def _mended_by(self, token: int) -> Any:
        """The state after `token`, if a text may begin with the list again; else None."""
        good = self._good()
        if not self._special.isdisjoint(self._ids[good:]):
            return None  # What a special id leaves behind, nothing mends.
        begin = self._part()
        # Inconsistent tokens after a stable cut do not move it, since no continuation does.
        cut = 0 if self._finder is None else self._finder.advance(self._ids[begin:good], 0)
        if not self._oracle.may_begin([*self._ids[begin + cut :], token]):
            return None
        return reduce(self._engine.step, (*self._ids[good:], token), self._states[good])


def _ints(candidates: Iterable[int]) -> Any:
    return candidates if isinstance(candidates, np.ndarray) else list(candidates)


def _expect_one_of(name: str, found: str, known: Sequence[str]) -> None:
    if found not in known:
        raise SettingsError(f"{name}: expected one of {', '.join(known)}, found {found!r}")
