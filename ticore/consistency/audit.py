"""What to know about a tokenizer before relying on it.

Tokens that no text gives are those of Land & Bartolo, "Fishing for Magikarp". They call a token
unreachable if encode(decode([id])) != [id]. Where a dummy prefix is put before each text, that is
half of a vocabulary, so here a token counts as unreachable only if encode does not give it for its
text between some others either.
"""

from __future__ import annotations

import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from ..interfaces import Tokenizer, TokenizerStructure
from ..registry import as_tokenizer
from . import store
from .modes import Mode, pending
from .normalization import Normalization
from .verifier import Rung, Verifier, forget

# Where a token may have to stand to be right: behind one of these, or also before something else.
_BEFORE = ("\n", "1", "a", ".", "a ")
_BEHIND = ("", "1", "\u0e3f")  # the last is a character that hardly any token is glued to
_BATCH = 4096  # tokens between two reports of progress


@dataclass(frozen=True)
class Unreachable:
    """A token that encode does not give for its text, neither alone nor between some others.

    Attributes:
        token: its id.
        text: what it spells, a leading space included.
        read_as: the ids that encode gives for that text, behind another one where it can.
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
        spare: number of single bytes that are never used, as their characters are tokens.
        rewritten: number of tokens whose text the normaliser changes, by what it changes in them:
            `white space`, what is `not composed`, `compatibility` characters, `other`.
        alone: number of tokens of whole characters for which encode(decode([id])) != [id].
        unreachable: those that encode does not give for their text between others either, but for
            the spare and the rewritten ones.
        hazards: added tokens that text can spell; None if they are not known.
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
    spare: int
    rewritten: Mapping[str, int]
    alone: int
    unreachable: tuple[Unreachable, ...]
    hazards: tuple[Hazard, ...] | None
    missing_bytes: tuple[int, ...]


def audit(
    tokenizer: Tokenizer | object,
    mode: Mode = "prefix",
    progress: Callable[[int, int], None] | None = None,
) -> Audit:
    """Examine `tokenizer`.

    Args:
        progress: told of the tokens read and how many there are.

    Raises SettingsError as `ticore.Verifier`.
    """
    tokenizer = as_tokenizer(tokenizer)
    structure = tokenizer.structure()
    forget(tokenizer)
    with store.set_aside():
        _, build_seconds = _timed(tokenizer, mode)
    forget(tokenizer)
    verifier, load_seconds = _timed(tokenizer, mode)
    spelled = [tokenizer.token_bytes(i) for i in range(tokenizer.vocab_size)]
    ordinary = [i for i in range(tokenizer.vocab_size) if i not in tokenizer.special_ids]
    whole = [i for i in ordinary if _is_whole(spelled[i])]
    alone = _lost_alone(tokenizer, whole, progress)
    lost = _lost_anywhere(tokenizer, {i: spelled[i].decode() for i in alone})
    spare = lost.intersection(() if structure is None else structure.byte_ids)
    rewritten = _rewritten(structure, {i: spelled[i].decode() for i in sorted(lost - spare)})
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
        spare=len(spare),
        rewritten=dict(Counter(rewritten.values())),
        alone=len(alone),
        unreachable=tuple(
            Unreachable(i, spelled[i].decode(), _read_behind(tokenizer, spelled[i].decode()))
            for i in sorted(lost - spare - rewritten.keys())
        ),
        hazards=None if structure is None else _hazards(tokenizer, structure.added_tokens),
        missing_bytes=tuple(sorted(set(range(256)) - {s[0] for s in spelled if len(s) == 1})),
    )


def _timed(tokenizer: Tokenizer, mode: Mode) -> tuple[Verifier, float]:
    started = time.perf_counter()
    return Verifier(tokenizer, mode), time.perf_counter() - started


def _lost_alone(
    tokenizer: Tokenizer, tokens: Sequence[int], progress: Callable[[int, int], None] | None
) -> list[int]:
    """Those of `tokens` for which encode(decode([id])) != [id]."""
    found = []
    for start in range(0, len(tokens), _BATCH):
        batch = tokens[start : start + _BATCH]
        again = tokenizer.encode_batch([tokenizer.decode([i]) for i in batch])
        found += [i for i, ids in zip(batch, again, strict=True) if ids != [i]]
        if progress is not None:
            progress(start + len(batch), len(tokens))
    return found


def _lost_anywhere(tokenizer: Tokenizer, texts: Mapping[int, str]) -> set[int]:
    """Those tokens that encode does not give for their texts between others either."""
    left = dict(texts)
    for behind, before in product(_BEHIND, _BEFORE):
        expected = tokenizer.encode(before)
        again = tokenizer.encode_batch([before + text + behind for text in left.values()])
        for token, ids in zip(list(left), again, strict=True):
            if ids[: len(expected) + 1] == [*expected, token]:
                del left[token]
    return set(left)


def _read_behind(tokenizer: Tokenizer, text: str) -> tuple[int, ...]:
    """What encode gives for `text` behind another one, so that no dummy prefix joins it."""
    for before in _BEFORE:
        expected, ids = tokenizer.encode(before), tokenizer.encode(before + text)
        if ids[: len(expected)] == expected:
            return tuple(ids[len(expected) :])
    return tuple(tokenizer.encode(text))


def _rewritten(structure: TokenizerStructure | None, texts: Mapping[int, str]) -> dict[int, str]:
    """What the normaliser changes in each text that it changes."""
    if structure is None:
        return {}
    keeps = Normalization(structure).keeps
    return {i: _kind_of_change(text) for i, text in texts.items() if not keeps(text)}


def _kind_of_change(text: str) -> str:
    if any(c.isspace() and c != " " for c in text) or "  " in text:
        return "white space"
    if not unicodedata.is_normalized("NFC", text):
        return "not composed"
    return "other" if unicodedata.is_normalized("NFKC", text) else "compatibility"


def _hazards(tokenizer: Tokenizer, added: Mapping[str, int]) -> tuple[Hazard, ...]:
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
