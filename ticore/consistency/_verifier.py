"""Which tokens may come next so that a list of tokens stays consistent.

A `Verifier` belongs to one tokenizer. A `Verification` is one list that grows and shrinks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from operator import index
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from .._support.caches import BoundedCache
from .._support.checks import checked_ids, integer, require_one_of
from .._support.deprecation import keywords_after, renamed_arguments, warn_deprecated
from .._support.packed_bits import Words, word_count
from ..errors import InconsistentStateError, SettingsError
from ..interfaces import SpecialWritingTokenizer, Tokenizer
from ..registry import wrap
from ._arrays import Bools
from ._boundaries import Specials, boundary_ids, specials_named, unlike_gaps, written_ids
from ._channels import PASSAGES, Channel
from ._engines.base import Engine
from ._engines.build import table_engine
from ._engines.channel_engine import ChannelEngine
from ._engines.passed_tests import checks_of
from ._engines.retokenizing import Oracle, RetokenizingEngine, WrittenOracle
from ._engines.self_test import require_deterministic_round_trip, run_self_test
from ._engines.stable_cuts import CutFinder, cut_finder
from ._exported_tables import ExportedTables
from ._modes import Mode
from ._part import Part
from ._unsupported import Unsupported

View = Literal["whole", "continuation"]
"""What a receiver retokenizes: the prompt and its continuation, or the continuation alone."""

Method = Literal["table", "suffix", "retokenize"]
"""How a Verifier decides, fastest first. All methods give the same answers."""

METHODS: tuple[Method, ...] = get_args(Method)
_OLD_METHODS: dict[str, Method] = {"mask": "table", "tail": "suffix", "oracle": "retokenize"}


class Verifier:
    """Decides which tokens may follow a list of tokens, by the fastest method that is exact.

    Thread-safe: several threads may use one Verifier, each with a `Verification` of its own. A
    Verifier never changes, so a copy of it is the same object. It can be pickled; a new one is then
    made from its arguments.

    Args:
        tokenizer: the one whose `encode` the receiver will use. A tokenizer of transformers,
            tokenizers, sentencepiece or tiktoken is accepted as well, see `ticore.wrap`.
        mode: which lists of tokens may stand at the beginning of a text. `prefix`: those that would
            be consistent as a finished text (the stepwise verification of Yan & Murawaki, section
            4). `open`: also those that end inside a character. `viable`: also those that one of
            six short continuations makes consistent.
        view: what the receiver retokenizes. `whole`: the prompt with its continuation.
            `continuation`: the continuation alone.
        method: how to decide, see the attribute; None picks the fastest method that is exact.
        channel: what happens to the text before the receiver retokenizes it, see
            `ticore.consistency.send`. `identity` changes nothing. A list is consistent if
            encode(channel(decode(list))) == list.
        specials: what becomes of the special tokens in a list, such as those of a chat or an end of
            text. `gaps`: the receiver keeps them, and retokenizes each part between two of them by
            itself. `text`: the receiver has the text with the names of special tokens, and finds
            them in it. `refuse`: the receiver has the text without them, so a list that holds one
            is not consistent. With `gaps` and `text`, a part must be consistent before a special
            token may follow it. In all cases special ids are never candidates, and a list that
            holds an id for unknown text is never consistent.

    Attributes:
        method: `table` looks the answer up in tables. `suffix` retokenizes the text after the last
            stable cut. `retokenize` retokenizes the whole text. With `table` and `suffix`, a
            candidate that the channel would change is refused without retokenization. One
            exception: in the modes `open` and `viable`, where the text that follows decides about
            such a candidate, the whole text is retokenized.
        why: why no faster method is used, or `asked for` if you chose it; empty for the fastest.
        checks: how many candidates the self-test compared with the definition before first use,
            perhaps in another process; 0 for `retokenize`, which is the definition.

    Raises:
        SettingsError: the mode, view, method, channel or `specials` is unknown; the method is not
            exact for this tokenizer; the tokenizer encodes at random, or does not read back what it
            wrote; `tokenizer` is not a tokenizer.
        ModelFilesError: a tokenizer of another library cannot be adapted exactly.

    >>> import ticore
    >>> tokenizer = ticore.load_tokenizer("tiny-en")
    >>> verification = Verifier(tokenizer).start(tokenizer.encode("The morning was c"))
    >>> ids = {tokenizer.token_bytes(i): i for i in range(tokenizer.vocab_size)}
    >>> verification.admits([ids[b"o"], ids[b"!"]]).tolist()  # " c", "o" is read as " co"
    [False, True]
    """

    @renamed_arguments(rung="method")
    @keywords_after(2)
    def __init__(
        self,
        tokenizer: Tokenizer | object,
        *,
        mode: Mode = "prefix",
        view: View = "whole",
        method: Method | None = None,
        channel: Channel = "identity",
        specials: Specials = "gaps",
    ) -> None:
        require_one_of("mode", mode, get_args(Mode))
        require_one_of("view", view, get_args(View))
        if method is not None:
            method = _method_named(method)
        require_one_of("channel", channel, get_args(Channel))
        specials = specials_named(specials)
        self.tokenizer = tokenizer = wrap(tokenizer)
        self.mode: Mode = mode
        self.view: View = view
        self.channel: Channel = channel
        self.specials: Specials = specials
        self._asked = method
        # A way holds its tokenizer, so no other object has the same `id()` while it is cached.
        self._divided = _Divided.of(tokenizer, specials, channel)
        why = self._divided.why_as_a_whole
        key = id(tokenizer), mode, method, channel, bool(why)
        self._way = _WAYS.get_once(
            key,
            lambda: (
                _way_for_written(tokenizer, mode, method, channel, why)
                if why
                else _way(tokenizer, mode, method, channel)
            ),
        )
        self.method: Method = self._way.method
        self.why = self._way.why
        self.checks = self._way.checks

    def start(self, prompt_ids: Sequence[int] = ()) -> Verification:
        """Start a list of tokens.

        Args:
            prompt_ids: the ids that the list begins with. In view `continuation` they are not part
                of it, and the list begins empty.

        Returns:
            The list, of which `prompt_ids` cannot be taken back.

        Raises:
            SettingsError: the tokenizer does not have one of the ids.
        """
        ids = prompt_ids if self.view == "whole" else ()
        return self._start(ids)

    def _start(self, ids: Sequence[int]) -> Verification:
        way = self._way
        return Verification(way.engine, way.oracle, way.cuts, ids, self._divided.boundaries, self)

    def export_tables(self) -> ExportedTables:
        """The tables as arrays, for an engine that makes masks on its device.

        It takes some seconds for a large vocabulary.

        Raises:
            SettingsError: there are no such tables: `method` is not `table`, the tokenizer is not
                BPE, or there is a channel.
        """
        try:
            return ExportedTables(self._way.engine)
        except Unsupported as why:
            raise SettingsError(
                f"expected a verifier of a BPE tokenizer with the method 'table' and without a "
                f"channel, found one whose tables cannot be exported: {why}; use packed_masks"
            ) from None

    @property
    def rung(self) -> str:
        """Deprecated: the old spelling of `method` (mask, tail or oracle)."""
        warn_deprecated("Verifier.rung", "Verifier.method (table, suffix or retokenize)")
        return old_name_of(self.method)

    def __reduce__(self) -> tuple[Any, ...]:
        settings = self.mode, self.view, self._asked, self.channel, self.specials
        return _made_again, (self.tokenizer, *settings)

    def __copy__(self) -> Verifier:
        return self

    def __deepcopy__(self, memo: object) -> Verifier:
        return self


@dataclass(frozen=True)
class _Divided:
    """How special tokens divide a list.

    Attributes:
        boundaries: the special ids between parts.
        why_as_a_whole: why the list with its special tokens must be retokenized as a whole; empty
            where it need not.
    """

    boundaries: frozenset[int] = frozenset()
    why_as_a_whole: str = ""

    @classmethod
    def of(cls, tokenizer: Tokenizer, specials: Specials, channel: Channel) -> _Divided:
        if specials == "refuse":
            return cls()
        if specials == "gaps":
            return cls(boundary_ids(tokenizer))
        written = written_ids(tokenizer)
        why = unlike_gaps(tokenizer, written)
        if written and channel != "identity":
            why = why or "the channel changes the names of special tokens and the text beside them"
        return cls(why_as_a_whole=why) if why else cls(written)


@dataclass(frozen=True, eq=False)
class _Way:
    """How one tokenizer is verified.

    Attributes:
        oracle: the definition.
        engine: gives the answers; the self-test compared it with the definition on random lists.
        cuts: finds stable cuts, before which an inconsistent list need not be retokenized; None if
            none are known.
        method, why, checks: see Verifier.
    """

    oracle: Oracle
    engine: Engine[Any]
    cuts: CutFinder | None
    method: Method
    why: str
    checks: int


# The last few are cached: a program makes many verifiers for few tokenizers, and all of them share
# the caches of one engine.
_WAYS: BoundedCache[tuple[object, ...], _Way] = BoundedCache(4)


def _way(tokenizer: Tokenizer, mode: Mode, method: Method | None, channel: Channel) -> _Way:
    """The fastest way, or that of `method`; raises as Verifier."""
    checks_of(tokenizer, "round trip", partial(require_deterministic_round_trip, tokenizer))
    oracle = Oracle(tokenizer, mode, channel)
    cuts = None
    if channel == "identity":  # a cut is stable while a text grows; a channel may change its end
        with suppress(Unsupported):
            cuts = cut_finder(tokenizer)
    reasons: list[str] = []
    for name in METHODS if method is None else (method,):
        try:
            engine = _engine(name, oracle)
            test = partial(_self_test, engine, oracle, masks_are_fast=name == "table")
            settings = f"engine {name} {mode} {channel}"
            checks = 0 if name == "retokenize" else checks_of(tokenizer, settings, test)
        except Unsupported as reason:
            reasons.append(f"{name}: {reason}")
        else:
            why = "asked for" if method not in (None, "table") else "; ".join(reasons)
            return _Way(oracle, engine, cuts, name, why, checks)
    raise SettingsError(
        f"the method {method!r} is not exact for this tokenizer: {reasons[0]}; use 'retokenize'"
    )


def _self_test(engine: Engine[Any], oracle: Oracle, *, masks_are_fast: bool) -> int:
    """How many candidates were compared; raises Unsupported at a difference."""
    result = run_self_test(engine, oracle, masks_are_fast=masks_are_fast)
    if result.wrong:
        raise Unsupported(result.wrong)
    return result.checks


def _way_for_written(
    tokenizer: Tokenizer, mode: Mode, method: Method | None, channel: Channel, why: str
) -> _Way:
    """The way for lists whose special tokens are written out, and that are read as a whole."""
    assert isinstance(tokenizer, SpecialWritingTokenizer)  # else nothing is written out
    if method not in (None, "retokenize"):
        raise SettingsError(
            f"the method {method!r} is not exact for special tokens as text: {why}; use "
            f"'retokenize', or specials='gaps'"
        )
    checks_of(tokenizer, "round trip", partial(require_deterministic_round_trip, tokenizer))
    oracle = WrittenOracle(tokenizer, mode, channel)
    said = "asked for" if method else f"table: {why}; suffix: {why}"
    return _Way(oracle, RetokenizingEngine(oracle, None), None, "retokenize", said, 0)


def forget(tokenizer: Tokenizer) -> None:
    """Drop what is cached for `tokenizer`."""
    _WAYS.drop(lambda key: key[0] == id(tokenizer))


def _engine(method: Method, oracle: Oracle) -> Engine[Any]:
    """The engine of a method.

    Raises:
        Unsupported: it would not be exact.
    """
    if method == "retokenize":
        return RetokenizingEngine(oracle, None)
    tokenizer, channel = oracle.tokenizer, oracle.channel
    plain = Oracle(tokenizer, oracle.mode)
    engine: Engine[Any] = (
        RetokenizingEngine(plain, cut_finder(tokenizer))
        if method == "suffix"
        else table_engine(plain)
    )
    return engine if channel == "identity" else ChannelEngine(engine, PASSAGES[channel], oracle)


class Verification:
    """One list of tokens, and which tokens may follow it.

    Any id may be pushed, also one that makes the list inconsistent. `admits` and `mask` answer only
    while a text may begin with the list. After a boundary (a special token that the receiver keeps)
    a new part begins as if the list were empty.

    Use one per thread. A copy is independent of the original. Pickling stores the verifier and the
    ids; unpickling reads the ids again.
    """

    def __init__(
        self,
        engine: Engine[Any],
        oracle: Oracle,
        cuts: CutFinder | None,
        ids: Sequence[int],
        boundaries: frozenset[int] | None = None,
        verifier: Verifier | None = None,
    ) -> None:
        self._verifier = verifier
        self._engine = engine
        self._special = oracle.divided_by
        self._never = oracle.tokenizer.special_ids  # a candidate
        self._size = oracle.tokenizer.vocab_size
        self._boundaries = oracle.boundaries if boundaries is None else boundaries
        self._new_part = partial(Part, engine, oracle, cuts)
        self._ids: list[int] = []
        # One more than the list has boundaries. All parts but the last are consistent.
        self._parts: list[Part] = []
        # The position of the first special id that makes the list inconsistent for good; None if
        # there is no such id. This id and those after it are in no part.
        self._broken_at: int | None = None
        self._read(checked_ids(ids, self._size))
        self._given = len(self._ids)

    def _read(self, ids: list[int]) -> None:
        """Push many ids at once into an empty list."""
        start = 0
        for at, token in enumerate(ids):
            if token in self._special:
                self._parts.append(self._new_part(ids[start:at]))
                self._ids = ids[:at]
                if token not in self._boundaries or not self.consistent:
                    self._broken_at = at
                    break
                start = at + 1
        else:
            self._parts.append(self._new_part(ids[start:]))
        self._ids = ids

    def __reduce__(self) -> tuple[Any, ...]:
        if self._verifier is None:
            raise TypeError(
                "expected a Verification that Verifier.start made, found one without a Verifier; "
                "pickle its ids, and start from them"
            )
        return _restored, (self._verifier, self.ids, self._given)

    def __copy__(self) -> Verification:
        copy = Verification.__new__(Verification)
        vars(copy).update(vars(self))
        copy._ids, copy._parts = self._ids.copy(), [part.copy() for part in self._parts]
        return copy

    def __deepcopy__(self, memo: object) -> Verification:
        return self.__copy__()

    @property
    def ids(self) -> tuple[int, ...]:
        """The list: the given ids, then those pushed. A new tuple at each use."""
        return tuple(self._ids)

    @property
    def vocab_size(self) -> int:
        """How many ids the tokenizer has: those that may be pushed lie below."""
        return self._size

    @property
    def consistent(self) -> bool:
        """Whether encode(channel(decode(part))) == part for each part of the list.

        A text may end here if and only if this is True, in every mode.
        """
        return self._broken_at is None and self._parts[-1].consistent

    @property
    def admissible(self) -> bool:
        """Whether a text may begin with the list; the mode defines that."""
        return self._broken_at is None and self._parts[-1].state is not None

    @property
    def unrecoverable(self) -> bool:
        """Whether it is known that no continuation makes the list consistent again.

        For example, some pairs of neighbouring tokens never occur in the output of `encode`, and
        the tokens before a stable cut or a boundary are read by themselves, whatever follows. False
        does not promise that such a continuation exists.
        """
        return self._broken_at is not None or self._parts[-1].unrecoverable

    @property
    def lost(self) -> bool:
        """Deprecated: the old name of `unrecoverable`."""
        warn_deprecated("Verification.lost", "Verification.unrecoverable")
        return self.unrecoverable

    def finished_ok(self) -> bool:
        """Deprecated: the same as `consistent`."""
        warn_deprecated("Verification.finished_ok()", "Verification.consistent")
        return self.consistent

    def admits(self, candidates: Iterable[int]) -> Bools:
        """Whether a text may begin with the list followed by a candidate, for each candidate.

        Args:
            candidates: n token ids, in any order.

        Returns:
            bool[n].

        Raises:
            InconsistentStateError: no text may begin with the list itself.
            SettingsError: the tokenizer does not have an id.
            WrongTypeError: a candidate is not an integer.
        """
        return self._engine.admits(self._state(), _checked_array(candidates, self._size))

    def admits_one(self, candidate: int) -> bool:
        """`admits` for one candidate: faster where few are asked for.

        Args:
            candidate: a token id.

        Raises:
            InconsistentStateError: no text may begin with the list itself.
            SettingsError: the tokenizer does not have this id.
            WrongTypeError: `candidate` is not an integer.
        """
        self._state()  # raises
        self.push(candidate)
        admitted = self.admissible and self._ids[-1] not in self._never
        self.rewind(1)
        return admitted

    def mask(self) -> Bools:
        """`admits` for the whole vocabulary.

        Returns:
            bool[vocab_size].

        Raises:
            InconsistentStateError: no text may begin with the list itself.
        """
        return self._engine.mask(self._state())

    def packed_mask(self) -> Words:
        """`mask` with one bit per token: token t is bit t % 32 of word t // 32, lowest bit first.

        `packed_masks` writes those of many texts into one buffer.

        Returns:
            uint32[ceil(vocab_size / 32)], a new array; the bits after the last token are 0.

        Raises:
            InconsistentStateError: no text may begin with the list itself.
        """
        words = np.empty(word_count(self._size), dtype=np.uint32)
        self._write_mask(words)
        return words

    def _write_mask(self, words: Words) -> None:
        """Write `packed_mask` into uint32[ceil(vocab_size / 32)]."""
        self._engine.packed_mask(self._state(), words)

    def push(self, token: int) -> None:
        """Append one id, whether the list stays consistent or not.

        Args:
            token: an id of the tokenizer.

        Raises:
            SettingsError: the tokenizer does not have this id.
            WrongTypeError: `token` is not an integer.
        """
        try:
            token = index(token)
        except TypeError:
            checked_ids((token,), self._size)  # raises
        if token in self._special:
            self._push_special(token)
        elif not 0 <= token < self._size:
            checked_ids((token,), self._size)  # raises
        elif self._broken_at is None:
            self._parts[-1].push(token)
        self._ids.append(token)

    def rewind(self, count: int) -> None:
        """Take back the last `count` ids that were pushed.

        Args:
            count: how many, 0 or more.

        Raises:
            SettingsError: fewer ids were pushed, or `count` is negative.
            WrongTypeError: `count` is not an integer.
        """
        count = integer("rewind", count)
        pushed = len(self._ids) - self._given
        if not 0 <= count <= pushed:
            raise SettingsError(
                f"rewind: expected 0 to {pushed} ids, found {count}; the ids that the list was "
                f"started with cannot be taken back"
            )
        left = len(self._ids) - count
        if self._broken_at is not None:
            del self._ids[max(left, self._broken_at) :]
            if left <= self._broken_at:
                self._broken_at = None
        while (count := len(self._ids) - left) > 0:
            if in_part := min(count, len(self._parts[-1].ids)):
                self._parts[-1].rewind(in_part)
                del self._ids[-in_part:]
            else:  # the boundary before the part
                self._parts.pop()
                self._ids.pop()

    def _state(self) -> Any:
        state = self._parts[-1].state if self._broken_at is None else None
        if state is None:
            raise InconsistentStateError(
                "expected a list that a text may begin with, found an inconsistent one, after "
                "which no candidate can be verified; rewind it to where `admissible` was True"
            )
        return state

    def _push_special(self, token: int) -> None:
        """Begin a new part after a boundary that ends a consistent part; else the list is broken.

        A broken list stays inconsistent whatever follows.
        """
        if self._broken_at is not None:
            return
        if token in self._boundaries and self.consistent:
            self._parts.append(self._new_part())
        else:
            self._broken_at = len(self._ids)


def _made_again(
    tokenizer: Tokenizer,
    mode: Mode,
    view: View,
    method: Method | None,
    channel: Channel,
    specials: Specials,
) -> Verifier:
    """A Verifier of these settings, for unpickling."""
    return Verifier(
        tokenizer, mode=mode, view=view, method=method, channel=channel, specials=specials
    )


def _restored(verifier: Verifier, ids: Sequence[int], given: int) -> Verification:
    """A Verification with these ids, of which the first `given` cannot be taken back."""
    verification = verifier._start(ids[:given])
    for token in ids[given:]:
        verification.push(token)
    return verification


def _method_named(name: str) -> Method:
    """A method by its name, or by the name it had before."""
    if name in _OLD_METHODS:
        warn_deprecated(f"Verifier(method={name!r})", repr(_OLD_METHODS[name]), stacklevel=6)
        return _OLD_METHODS[name]
    return require_one_of("method", name, METHODS)


def old_name_of(method: Method) -> str:
    """The name that a method had before."""
    return next(old for old, new in _OLD_METHODS.items() if new == method)


def _checked_array(ids: Iterable[int], size: int) -> npt.NDArray[np.int64]:
    """`ids` as int64[n]. Raises as `checked_ids`."""
    if not (isinstance(ids, np.ndarray) and ids.ndim == 1 and ids.dtype.kind in "iu"):
        return np.array(checked_ids(ids, size), dtype=np.int64)
    numbers = ids.astype(np.int64, copy=False)
    # As unsigned integers the negative ones are the largest.
    if np.maximum.reduce(numbers.view(np.uint64), initial=0) >= size:
        checked_ids(ids.tolist(), size)  # raises
    return numbers
