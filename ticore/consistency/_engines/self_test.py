"""The self-test: can a tokenizer be verified, and does an engine answer as the definition does?

It runs before an engine is first used, so it is short: some random lists, some long runs of one
character, and some texts whose first tokens are refused and recover. Every answer of the `Engine`
protocol is compared.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Generic, NoReturn, TypeVar

import numpy as np

from ..._support.packed_bits import unpack, word_count
from ..._support.utf8 import unfinished_suffix
from ...errors import SettingsError
from ...interfaces import Tokenizer
from .._arrays import Bools
from .._tokenizer_rules.pretokenizers import is_ambiguous
from .base import Engine, Recovery
from .retokenizing import Oracle
from .tokenizer_parts import spelled_by

S = TypeVar("S")

_TEXTS, _WORDS = 12, 8
_WALKS, _STEPS, _CANDIDATES = 6, 6, 10
# How many candidates of a step are looked at of those that never recover, and of those refused.
_UNRECOVERABLE, _REFUSED = 2, 1
# What may follow a list: nothing, what joins its last word, and what begins another word.
_CONTINUED = ("", "a", " 1")
# No random list holds a long run of one character. In such a run, an engine that remembers a window
# of the text has forgotten what stands before it. A run is the text before it, a character, and how
# often this comes.
# Windows are powers of two, so lists are looked at whose length is one of these, or one more.
_LONGEST_RUN = 300
_RUNS = tuple(
    (before, run, _LONGEST_RUN) for before, run in (("", " "), ("a", " "), ("", "a"), ("a", "\n"))
)
_MARKS = ("o", "\u0316", 130)  # an acute accent after all of them composes with the letter
_WINDOWS = (*(1 << n for n in range(9)), _LONGEST_RUN - 1)
_AFTER_RUNS = ("a \n", "\u0301")
# Texts whose first tokens are refused in some mode: characters of several tokens, a blank line, and
# spaces that belong to what follows.
_RECOVERING = ("é", "aあ", "😀!", "a\n\nb", "a   b", " ")
_CUTS = 256  # ways to cut one token in two that are looked at


def require_deterministic_round_trip(tokenizer: Tokenizer) -> int:
    """Refuse a tokenizer that encodes by chance, or does not read back what it wrote.

    Consistency means nothing for such a tokenizer: hardly any list of tokens would survive.

    Returns:
        How many texts it was tried with.

    Raises:
        SettingsError: for such a tokenizer.
    """
    draw = _random(tokenizer)
    words = _plain_words(tokenizer, draw)
    name = type(tokenizer).__name__
    count = _TEXTS if words else 0
    for _ in range(count):
        text = tokenizer.decode(draw.choices(words, k=_WORDS))
        ids = tokenizer.encode(text)
        if tokenizer.encode(text) != ids or tokenizer.encode_batch([text]) != [ids]:
            raise SettingsError(
                f"expected a tokenizer that gives the same ids for the same text, found that "
                f"{name} gives different ids for {text!r}; turn its dropout or sampling off"
            )
        again = tokenizer.encode(tokenizer.decode(ids))
        if again != ids and not tokenizer.special_ids.intersection(ids):
            raise SettingsError(
                f"expected a tokenizer that reads back what it wrote, found that {name} reads "
                f"{tokenizer.decode(ids)!r} as other ids than those it was decoded from; if an "
                f"option cleans up what it writes, turn that off; if its file does so (a decoder "
                f"or normalizer that changes texts), choose another tokenizer, or another file of "
                f"this one"
            )
    return count


@dataclass(frozen=True)
class SelfTestResult:
    """What the comparison of an engine with the definition found.

    Attributes:
        checks: how many candidates were compared.
        wrong: the first difference, in words; empty if there was none.
    """

    checks: int
    wrong: str = ""


def run_self_test(
    engine: Engine[S], oracle: Oracle, *, masks_are_fast: bool = True
) -> SelfTestResult:
    """Compare `engine` with the definition, up to the first difference.

    Args:
        engine: what is tested.
        oracle: asks the tokenizer, in the engine's mode.
        masks_are_fast: compare masks too, and take candidates from them. An engine whose mask asks
            the tokenizer about every id would take minutes.
    """
    test = _SelfTest(engine, oracle, masks_are_fast)
    try:
        test.walk_at_random()
        for before, character, length in _runs(oracle.tokenizer):
            test.walk_along_run(before, character * length)
        for text in _RECOVERING:
            test.walk_along_recovering(text)
    except _Difference as difference:
        return SelfTestResult(test.checks, str(difference))
    return SelfTestResult(test.checks)


class _Difference(Exception):
    """The engine and the definition disagree."""


class _SelfTest(Generic[S]):
    """Walks along lists of tokens, and compares the answers about each. See `run_self_test`."""

    def __init__(self, engine: Engine[S], oracle: Oracle, masks_are_fast: bool) -> None:
        self._engine = engine
        self._oracle = oracle
        self._tokenizer = oracle.tokenizer
        self._masks_are_fast = masks_are_fast
        self.checks = 0

    def walk_at_random(self) -> None:
        """Along random lists that a text may begin with."""
        tokenizer = self._tokenizer
        draw = _random(tokenizer)
        vocabulary = _ordinary_ids(tokenizer)
        halves = _halves(tokenizer, vocabulary, draw) if vocabulary else []
        for walk in range(_WALKS if vocabulary else 0):
            state, ids, second_half = self._engine.start(), list[int](), list[int]()
            for _ in range(_STEPS):
                # After the first half of a token the second is tried: together they give the token.
                pair = second_half or list(draw.choice(halves))
                candidates = [pair[0], *draw.choices(vocabulary, k=_CANDIDATES)]
                mask = self._mask(state, ids)
                if mask is not None and mask.any():
                    candidates += map(int, draw.choices(np.flatnonzero(mask), k=_CANDIDATES))
                found = self._compare_candidates(state, ids, candidates, mask)
                self._compare_list(state, ids)
                self._compare_unrecoverable(state, ids, candidates, found)
                self._compare_refused(state, ids, candidates, found)
                if not found.any():
                    break
                chosen = 0 if found[0] else draw.choice(np.flatnonzero(found).tolist())
                second_half = pair[1:] if chosen == 0 else []
                longer = self._engine.step_if_admitted(state, candidates[chosen])
                if longer is None:
                    self._differ(ids, f"its steps refuse id {candidates[chosen]}, which it admits")
                # The next answers are about one of the two states that the engine has for a list.
                by_step = self._engine.step(state, candidates[chosen])
                state = by_step if walk % 2 else longer
                ids.append(candidates[chosen])

    def walk_along_run(self, before: str, run: str) -> None:
        """Along the tokens of `before` and `run`, by `step`; looks at some lists on the way."""
        engine, oracle, tokenizer = self._engine, self._oracle, self._tokenizer
        ids = tokenizer.encode(before + run)
        if tokenizer.special_ids.intersection(ids):
            return  # a character that the tokenizer does not know
        survives = oracle.is_consistent(ids)
        after = {token for text in _AFTER_RUNS for token in tokenizer.encode(text)}
        candidates = [i for i in sorted(after - tokenizer.special_ids) if self._is_quick(i)]
        state, spelled = engine.start(), b""
        for at, token in enumerate(ids, start=1):
            if survives and engine.never_recovers(state, token):
                self._differ(ids[: at - 1], f"it gives up id {token}, which recovers")
            state = engine.step(state, token)
            spelled += tokenizer.token_bytes(token)
            length = spelled.count(run[0].encode()) - before.count(run[0])
            if not (_is_looked_at(at) or _is_looked_at(length)) or not oracle.may_begin(ids[:at]):
                continue
            self._compare_list(state, ids[:at])
            self._compare_candidates(state, ids[:at], candidates, None)

    def walk_along_recovering(self, text: str) -> None:
        """Along the tokens of a consistent text, by steps for what is admitted and refused."""
        engine, oracle, tokenizer = self._engine, self._oracle, self._tokenizer
        ids = tokenizer.encode(text)
        # A special token is a boundary, about which no engine is asked.
        if tokenizer.special_ids.intersection(ids) or not oracle.is_consistent(ids):
            return
        state = engine.start()
        for at, token in enumerate(ids):
            longer = engine.step_if_admitted(state, token)
            self.checks += 1
            if (longer is not None) != oracle.may_begin(ids[: at + 1]):
                self._differ(ids[:at], f"its steps are wrong about id {token}")
            if longer is None:
                refused = engine.step_if_refused(state, token)
                if refused is Recovery.NEVER:
                    self._differ(ids[:at], f"it refuses id {token} for good, which recovers")
                if refused is Recovery.UNKNOWN:
                    return
                longer = refused
            state = longer

    def _mask(self, state: S, ids: Sequence[int]) -> Bools | None:
        """The engine's mask, after every second list its packed mask; None if that is slow."""
        # After characters that libraries disagree on, every engine asks the oracle about each id.
        if not self._masks_are_fast or any(map(is_ambiguous, self._tokenizer.decode(ids))):
            return None
        if len(ids) % 2:
            words = np.zeros(word_count(self._tokenizer.vocab_size), dtype=np.uint32)
            self._engine.packed_mask(state, words)
            return unpack(words, self._tokenizer.vocab_size)
        return self._engine.mask(state)

    def _compare_candidates(
        self, state: S, ids: Sequence[int], candidates: Sequence[int], mask: Bools | None
    ) -> Bools:
        """Compare `admits` with the definition, and `mask` with `admits`. Returns `admits`."""
        found = self._engine.admits(state, np.array(candidates, dtype=np.int64))
        checked = [n for n, token in enumerate(candidates) if found[n] or self._is_quick(token)]
        expected = self._oracle.admits(ids, [candidates[n] for n in checked])
        self.checks += len(checked)
        for n, right in zip(checked, expected.tolist(), strict=True):
            if found[n] != right:
                self._differ(ids, f"it is wrong about id {candidates[n]}")
        if mask is not None:
            for n in np.flatnonzero(mask[list(candidates)] != found).tolist():
                self._differ(ids, f"its mask is wrong about id {candidates[n]}")
        return found

    def _compare_list(self, state: S, ids: Sequence[int]) -> None:
        """Compare what the engine says of a list itself: `is_consistent`, `tokens_since_cut`."""
        if self._engine.is_consistent(state) != self._oracle.is_consistent(ids):
            self._differ(ids, "it is wrong about whether the text may end")
        since_cut = self._engine.tokens_since_cut(state)
        if since_cut is None:
            return
        cut, text = len(ids) - since_cut, self._tokenizer.decode(ids)
        longer = self._tokenizer.encode_batch([text + more for more in _CONTINUED])
        if cut < 0 or any(found[:cut] != list(ids[:cut]) for found in longer):
            self._differ(ids, f"it cuts before the last {since_cut} ids, where no cut is stable")

    def _compare_unrecoverable(
        self, state: S, ids: Sequence[int], candidates: Sequence[int], found: Bools
    ) -> None:
        """Compare `never_recovers` with texts that begin with the list and a candidate."""
        given_up = [n for n, i in enumerate(candidates) if self._engine.never_recovers(state, i)]
        for n in given_up:
            if found[n]:
                self._differ(ids, f"it gives up id {candidates[n]}, which it admits")
        for n in given_up[:_UNRECOVERABLE]:
            if self._oracle.recovers_with([*ids, candidates[n]], _CONTINUED):
                self._differ(ids, f"it gives up id {candidates[n]}, which recovers")

    def _compare_refused(
        self, state: S, ids: Sequence[int], candidates: Sequence[int], found: Bools
    ) -> None:
        """Compare the steps for candidates that are refused, and those after them."""
        refused = [i for i, yes in zip(candidates, found, strict=True) if not yes]
        admitted = [i for i, yes in zip(candidates, found, strict=True) if yes]
        for token in [i for i in refused if self._is_quick(i)][:_REFUSED]:
            if self._engine.step_if_admitted(state, token) is not None:
                self._differ(ids, f"its steps admit id {token}, which it refuses")
            longer = self._engine.step_if_refused(state, token)
            if longer is Recovery.NEVER:
                if self._oracle.recovers_with([*ids, token], _CONTINUED):
                    self._differ(ids, f"it refuses id {token} for good, which recovers")
            elif not isinstance(longer, Recovery):
                # What may follow the list without `token` shows whether the state forgot `token`.
                for following in [i for i in (*admitted[:1], *refused[-1:]) if self._is_quick(i)]:
                    step = self._engine.step_if_admitted(longer, following)
                    self.checks += 1
                    if (step is not None) != self._oracle.may_begin([*ids, token, following]):
                        self._differ([*ids, token], f"its steps are wrong about id {following}")

    def _is_quick(self, token: int) -> bool:
        """Whether the oracle need not try thousands of characters before it refuses `token`."""
        if self._oracle.mode == "prefix":
            return True
        return len(unfinished_suffix(self._tokenizer.token_bytes(token))) in (0, 2)

    def _differ(self, ids: Sequence[int], what: str) -> NoReturn:
        raise _Difference(f"after {self._tokenizer.decode(ids)!r} {what}")


def _runs(tokenizer: Tokenizer) -> Iterator[tuple[str, str, int]]:
    """The runs that this tokenizer reads as runs."""
    yield from _RUNS
    composes = "o\u0301"
    if tokenizer.decode(tokenizer.encode(composes)) != composes:
        yield _MARKS


def _is_looked_at(count: int) -> bool:
    return count in _WINDOWS or count - 1 in _WINDOWS


def _halves(
    tokenizer: Tokenizer, vocabulary: Sequence[int], draw: random.Random
) -> Sequence[tuple[int, int]]:
    """Pairs of tokens that spell a third one together; any pair if there are none."""
    some = map(tokenizer.token_bytes, draw.sample(vocabulary, k=min(len(vocabulary), 400)))
    cuts = [(data[:at], data[at:]) for data in some for at in range(1, min(len(data), _CUTS))]
    parts = set(chain(*cuts))
    spelled = spelled_by(tokenizer)
    ids = {spelled[i]: i for i in vocabulary if spelled[i] in parts}
    found = [(ids[left], ids[right]) for left, right in cuts if left in ids and right in ids]
    return found or [(vocabulary[0], vocabulary[0])]


def _ordinary_ids(tokenizer: Tokenizer) -> list[int]:
    """The ids that are not special, in order."""
    is_ordinary = np.ones(tokenizer.vocab_size, dtype=bool)
    is_ordinary[list(tokenizer.special_ids)] = False
    ids: list[int] = np.flatnonzero(is_ordinary).tolist()
    return ids


def _plain_words(tokenizer: Tokenizer, draw: random.Random) -> Sequence[int]:
    """Some ids that spell letters or digits, perhaps after a space."""
    found = []
    for token in draw.sample(range(tokenizer.vocab_size), k=min(2000, tokenizer.vocab_size)):
        text = tokenizer.token_bytes(token).decode(errors="replace").removeprefix(" ")
        if text.isalnum() and text.isascii() and token not in tokenizer.special_ids:
            found.append(token)
    return found


def _random(tokenizer: Tokenizer) -> random.Random:
    """The same draws for a tokenizer on every machine."""
    return random.Random(tokenizer.digest())
