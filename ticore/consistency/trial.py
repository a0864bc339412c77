"""Tries a tokenizer, and an engine against the definition, before anything relies on them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ..errors import SettingsError
from ..interfaces import Tokenizer
from .engine import Bools, Engine
from .modes import pending
from .oracle import Oracle
from .patterns import is_ambiguous

S = TypeVar("S")

_TEXTS, _WORDS = 12, 8
_WALKS, _STEPS, _CANDIDATES = 6, 6, 10
_LOST = 2  # of the candidates given up at one step, for which texts are tried that might mend them
_MENDING = ("", "a", " 1")
# No random walk makes a long run of one character, after which an engine that keeps no more than a
# window of the text has forgotten what stands before. A text, a character, and how many of them;
# windows being powers of two, what is looked at is as long as one of these, or one longer.
_LONGEST_RUN = 300
_RUNS = tuple(
    (before, run, _LONGEST_RUN) for before, run in (("", " "), ("a", " "), ("", "a"), ("a", "\n"))
)
_MARKS = ("o", "\u0316", 130)  # an acute accent goes with the letter, across all of them
_WINDOWS = (*(1 << n for n in range(9)), _LONGEST_RUN - 1)
_AFTER_RUNS = ("a \n", "\u0301")
_CUTS = 256  # ways to cut a token in two that are looked at: there is no end of a long one


def require_sound(tokenizer: Tokenizer) -> None:
    """Raises SettingsError if `tokenizer` encodes by chance, or does not read back what it wrote.

    Consistency means nothing for such a one: no list of tokens, or hardly any, would survive.
    """
    draw = _random(tokenizer)
    words = _plain_words(tokenizer, draw)
    name = type(tokenizer).__name__
    for _ in range(_TEXTS if words else 0):
        text = tokenizer.decode(draw.choices(words, k=_WORDS))
        ids = tokenizer.encode(text)
        if tokenizer.encode(text) != ids or tokenizer.encode_batch([text]) != [ids]:
            raise SettingsError(
                f"expected a tokenizer that encodes a text always alike, found that {name} gives "
                f"different ids for {text!r}; turn its dropout or sampling off"
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


@dataclass(frozen=True)
class Trial:
    """What came of comparing an engine with the definition.

    Attributes:
        checks: candidates compared.
        wrong: where they differed; empty if nowhere.
    """

    checks: int
    wrong: str = ""


def compare(engine: Engine[S], oracle: Oracle, *, from_masks: bool) -> Trial:
    """Compare `engine` with `oracle` on random walks and on long runs, up to the first difference.

    Args:
        from_masks: the engine's mask is quick, so let it name tokens that it admits.
    """
    walked = _walk(engine, oracle, from_masks=from_masks)
    checks, wrong = walked.checks, walked.wrong
    for before, character, length in _runs(oracle.tokenizer):
        if not wrong:
            run = _run(engine, oracle, before, character * length)
            checks, wrong = checks + run.checks, run.wrong
    return Trial(checks, wrong)


def _walk(engine: Engine[S], oracle: Oracle, *, from_masks: bool) -> Trial:
    tokenizer = oracle.tokenizer
    draw = _random(tokenizer)
    vocabulary = [i for i in range(tokenizer.vocab_size) if i not in tokenizer.special_ids]
    checks = 0
    halves = _halves(tokenizer, vocabulary, draw) if vocabulary else []
    for _ in range(_WALKS if vocabulary else 0):
        state, ids, awaited = engine.start(), list[int](), list[int]()
        for _ in range(_STEPS):
            # Where one half of a token has come, the other may not follow.
            pair = awaited or list(draw.choice(halves))
            candidates = [pair[0], *draw.choices(vocabulary, k=_CANDIDATES)]
            text = tokenizer.decode(ids)
            # Behind what libraries disagree on, a mask takes seconds: it is the oracle's own.
            if from_masks and not any(map(is_ambiguous, text)):
                admitted = np.flatnonzero(engine.mask(state)).tolist()
                candidates += draw.choices(admitted, k=_CANDIDATES) if admitted else []
            found = engine.admits(state, np.array(candidates))
            checked = [
                n for n, token in enumerate(candidates) if found[n] or _is_quick(oracle, token)
            ]
            expected = oracle.admits(ids, [candidates[n] for n in checked])
            checks += len(checked)
            for n, right in zip(checked, expected.tolist(), strict=True):
                if found[n] != right:
                    return Trial(checks, f"after {text!r} it is wrong about id {candidates[n]}")
            if engine.finished_ok(state) != oracle.finished_ok(ids):
                return Trial(checks, f"it is wrong about whether a text may be {text!r}")
            if (lost := _wrongly_lost(engine, oracle, state, ids, candidates, found)) is not None:
                return Trial(checks, f"after {text!r} it gives up id {lost}, which some text mends")
            if not found.any():
                break
            chosen = 0 if found[0] else draw.choice(np.flatnonzero(found).tolist())
            awaited = pair[1:] if chosen == 0 else []
            ids.append(candidates[chosen])
            longer = engine.follow(state, ids[-1])
            if longer is None:
                return Trial(checks, f"after {text!r} it does not follow id {ids[-1]}")
            state = longer
    return Trial(checks)


def _wrongly_lost(
    engine: Engine[S],
    oracle: Oracle,
    state: S,
    ids: Sequence[int],
    candidates: Sequence[int],
    found: Bools,
) -> int | None:
    """A candidate that the engine gives up though some text begins with the list and it."""
    lost = [n for n, token in enumerate(candidates) if engine.loses(state, token)]
    for n in lost:
        if found[n]:
            return candidates[n]
    for n in lost[:_LOST]:
        if oracle.is_mended([*ids, candidates[n]], _MENDING):
            return candidates[n]
    return None


def _runs(tokenizer: Tokenizer) -> Iterator[tuple[str, str, int]]:
    """Runs that mean something to this tokenizer."""
    yield from _RUNS
    composes = "o\u0301"
    if tokenizer.decode(tokenizer.encode(composes)) != composes:
        yield _MARKS


def _run(engine: Engine[S], oracle: Oracle, before: str, run: str) -> Trial:
    """Compare after some of the tokens of `before` and `run`."""
    tokenizer, checks = oracle.tokenizer, 0
    ids = tokenizer.encode(before + run)
    if tokenizer.special_ids.intersection(ids):
        return Trial(0)  # a character that it does not know
    nothing_lost = oracle.finished_ok(ids)
    after = {token for text in _AFTER_RUNS for token in tokenizer.encode(text)}
    candidates = sorted(after - tokenizer.special_ids)
    state, spelled = engine.start(), b""
    for at, token in enumerate(ids, start=1):
        if nothing_lost and engine.loses(state, token):
            text = tokenizer.decode(ids[: at - 1])
            return Trial(checks, f"after {text!r} it gives up id {token}, which some text mends")
        state = engine.step(state, token)
        spelled += tokenizer.token_bytes(token)
        length = spelled.count(run[0].encode()) - before.count(run[0])
        if not (_is_looked_at(at) or _is_looked_at(length)) or not oracle.may_begin(ids[:at]):
            continue
        text = tokenizer.decode(ids[:at])
        if engine.finished_ok(state) != oracle.finished_ok(ids[:at]):
            return Trial(checks, f"it is wrong about whether a text may be {text!r}")
        checked = [i for i in candidates if _is_quick(oracle, i)]
        expected = oracle.admits(ids[:at], checked)
        checks += len(checked)
        for wrong in np.flatnonzero(engine.admits(state, np.array(checked)) != expected).tolist():
            return Trial(checks, f"after {text!r} it is wrong about id {checked[wrong]}")
    return Trial(checks)


def _is_looked_at(count: int) -> bool:
    return count in _WINDOWS or count - 1 in _WINDOWS


def _halves(
    tokenizer: Tokenizer, vocabulary: Sequence[int], draw: random.Random
) -> Sequence[tuple[int, int]]:
    """Pairs of tokens that spell a third one together; some pair if there are none."""
    spelled = {tokenizer.token_bytes(token): token for token in vocabulary}
    found = []
    for token in draw.sample(vocabulary, k=min(len(vocabulary), 400)):
        data = tokenizer.token_bytes(token)
        for at in range(1, min(len(data), _CUTS)):
            left, right = spelled.get(data[:at]), spelled.get(data[at:])
            if left is not None and right is not None:
                found.append((left, right))
    return found or [(vocabulary[0], vocabulary[0])]


def _is_quick(oracle: Oracle, token: int) -> bool:
    """Whether the oracle need not try thousands of characters before it says no."""
    return oracle.mode == "prefix" or len(pending(oracle.tokenizer.token_bytes(token))) in (0, 2)


def _plain_words(tokenizer: Tokenizer, draw: random.Random) -> Sequence[int]:
    """Some ids that spell letters or digits, perhaps behind a space."""
    found = []
    for token in draw.sample(range(tokenizer.vocab_size), k=min(2000, tokenizer.vocab_size)):
        text = tokenizer.token_bytes(token).decode(errors="replace").removeprefix(" ")
        if text.isalnum() and text.isascii() and token not in tokenizer.special_ids:
            found.append(token)
    return found


def _random(tokenizer: Tokenizer) -> random.Random:
    """The same draws on every machine."""
    return random.Random(tokenizer.digest())
