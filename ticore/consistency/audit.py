"""What to know about a tokenizer before relying on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..interfaces import Tokenizer
from . import store
from .modes import Mode, pending
from .normalization import Normalization
from .verifier import Rung, Verifier, forget

# Where a token may have to stand to be right: first, or behind one of these.
_CONTEXTS = ("", "a", "1", ".", "\n", "a ")


@dataclass(frozen=True)
class Unreachable:
    """A token that no text gives in any of a few contexts.

    Attributes:
        token: its id.
        text: what it spells, malformed UTF-8 as U+FFFD.
        read_as: the ids that encode gives for that text.
    """

    token: int
    text: str
    read_as: tuple[int, ...]


@dataclass(frozen=True)
class Hazard:
    """An added token whose text comes back as its id, whoever wrote the text.

    Attributes:
        text, token: of the added token.
        special: it is a control token: text that spells it cannot be told from control.
        within: other added tokens that hold its text.
    """

    text: str
    token: int
    special: bool
    within: tuple[str, ...]


@dataclass(frozen=True)
class Audit:
    """All findings about one tokenizer in one mode.

    Attributes:
        kind: of algorithm; `unknown` without a description.
        vocab_size, digest: of the tokenizer.
        mode: see `ticore.Verifier`.
        rung, why, checks: see `ticore.Verifier`.
        build_seconds, load_seconds: to make the verifier ready, self-test included: with no table
            on disk, and again with those that it then stored.
        tables: the folder that holds them.
        special: number of ids that `encode` never gives.
        partial: number of tokens whose bytes are no whole characters.
        rewritten: number of tokens whose text the normaliser changes; they never are right.
        unreachable: other tokens that are never right, after Land & Bartolo, "Fishing for
            Magikarp"; here also judged behind a letter, a digit, a sign, a line's end and a space.
        hazards: added tokens that text can spell.
        missing_bytes: byte values that no token spells by itself.
    """

    kind: str
    vocab_size: int
    digest: str
    mode: Mode
    rung: Rung
    why: str
    checks: int
    build_seconds: float
    load_seconds: float
    tables: Path
    special: int
    partial: int
    rewritten: int
    unreachable: tuple[Unreachable, ...]
    hazards: tuple[Hazard, ...]
    missing_bytes: tuple[int, ...]


def audit(
    tokenizer: Tokenizer, mode: Mode = "prefix", progress: Callable[[int, int], None] | None = None
) -> Audit:
    """Examine `tokenizer`.

    Args:
        progress: told of the contexts done and how many there are.

    Raises SettingsError as `ticore.Verifier`.
    """
    structure = tokenizer.structure()
    forget(tokenizer)
    with store.set_aside():
        _, build_seconds = _timed(tokenizer, mode)
    forget(tokenizer)
    verifier, load_seconds = _timed(tokenizer, mode)
    spelled = [tokenizer.token_bytes(i) for i in range(tokenizer.vocab_size)]
    ordinary = [i for i in range(tokenizer.vocab_size) if i not in tokenizer.special_ids]
    whole = [i for i in ordinary if _is_whole(spelled[i])]
    rewritten = set[int]()
    if structure is not None:
        keeps = Normalization(structure).keeps
        pieces = np.flatnonzero(structure.pieces).tolist()
        rewritten = {i for i in pieces if _is_whole(spelled[i]) and not keeps(spelled[i].decode())}
    right = _right_somewhere(tokenizer, whole, progress)
    return Audit(
        kind="unknown" if structure is None else structure.kind,
        vocab_size=tokenizer.vocab_size,
        digest=tokenizer.digest(),
        mode=mode,
        rung=verifier.rung,
        why=verifier.why,
        checks=verifier.checks,
        build_seconds=build_seconds,
        load_seconds=load_seconds,
        tables=store.folder(),
        special=len(tokenizer.special_ids),
        partial=len(ordinary) - len(whole),
        rewritten=len(rewritten),
        unreachable=tuple(
            Unreachable(i, text := tokenizer.decode([i]), tuple(tokenizer.encode(text)))
            for i in whole
            if i not in right and i not in rewritten
        ),
        hazards=_hazards(tokenizer, {} if structure is None else dict(structure.added_tokens)),
        missing_bytes=tuple(sorted(set(range(256)) - {s[0] for s in spelled if len(s) == 1})),
    )


def _timed(tokenizer: Tokenizer, mode: Mode) -> tuple[Verifier, float]:
    started = time.perf_counter()
    return Verifier(tokenizer, mode), time.perf_counter() - started


def _right_somewhere(
    tokenizer: Tokenizer, tokens: Sequence[int], progress: Callable[[int, int], None] | None
) -> set[int]:
    """Those of `tokens` that may follow one of a few beginnings."""
    verifier = Verifier(tokenizer)
    left = np.array(tokens, dtype=np.int64)
    for done, context in enumerate(_CONTEXTS, start=1):
        text = verifier.start(tokenizer.encode(context) if context else ())
        if text.admissible:
            left = left[~text.admits(left)]
        if progress is not None:
            progress(done, len(_CONTEXTS))
    return set(tokens) - set(left.tolist())


def _hazards(tokenizer: Tokenizer, added: dict[str, int]) -> tuple[Hazard, ...]:
    return tuple(
        Hazard(
            text,
            token,
            token in tokenizer.special_ids,
            tuple(other for other in added if other != text and text in other),
        )
        for text, token in sorted(added.items())
        if token in tokenizer.encode(text)
    )


def _is_whole(data: bytes) -> bool:
    """Whether `data` are whole characters, at least one."""
    try:
        return bool(data.decode()) and not pending(data)
    except UnicodeDecodeError:
        return False
