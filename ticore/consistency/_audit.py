"""What to know about a tokenizer before relying on it.

A token that no text gives is *unreachable* (Land & Bartolo, "Fishing for Magikarp", 2024). They
call a token unreachable if encode(decode([id])) != [id]. Where a dummy prefix is put before each
text, this would be half of the vocabulary. So here a token is unreachable only if `encode` does not
give it for its text between some other texts either.
"""

from __future__ import annotations

import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from .._support import table_cache
from .._support.deprecation import keywords_after, warn_deprecated
from .._support.utf8 import is_complete
from ..interfaces import LanguageModel, LossyTokenizer, Tokenizer, TokenizerStructure
from ..registry import wrap
from ._engines.tokenizer_parts import spelled_by
from ._modes import Mode
from ._partial_tokens import never_given
from ._rejections import Rejections, TextReader
from ._tokenizer_rules.normalizers import Normalization
from ._verifier import Method, Verifier, forget, old_name_of

# `encode` may give a token only next to other text. So each token is tried after each of the first
# texts, and before each of the second.
_BEFORE = ("\n", "1", "a", ".", "a ")
_AFTER = ("", "1", "\u0e3f")  # the last is a character that hardly any token contains
_BATCH = 4096  # tokens between two calls of `progress`


@dataclass(frozen=True)
class Unreachable:
    """A token that `encode` does not give for its text, neither alone nor between other texts.

    Attributes:
        token: its id.
        text: what it spells, a leading space included.
        read_as: the ids that `encode` gives for that text, after another text if possible.
    """

    token: int
    text: str
    read_as: tuple[int, ...]


@dataclass(frozen=True)
class Hazard:
    """An added token that any text can spell: `encode` gives its id wherever the text occurs.

    Attributes:
        text: what spells the token.
        token: its id.
        special: whether it is a special token. Then a user's text can forge it.
        within: texts of other added tokens that contain this text.
    """

    text: str
    token: int
    special: bool
    within: tuple[str, ...]


@dataclass(frozen=True)
class Audit:
    """All findings about one tokenizer in one mode.

    Attributes:
        kind: the tokenizer's algorithm, `bpe` or `unigram`; `unknown` if it has no structure.
        vocab_size: number of ids.
        digest: of the tokenizer, in hex.
        mode: see `ticore.Verifier`.
        method: how the tokenizer is verified, see `ticore.Verifier`.
        why: why no faster method is used; empty for the fastest.
        checks: how many candidates the self-test compared with the definition.
        build_seconds: to make a verifier, self-test included, with no tables on disk.
        load_seconds: to make a verifier, self-test included, with tables on disk.
        tables: the folder with the tables; None if none are kept, for want of a home directory.
        special: number of special ids.
        partial: number of tokens whose bytes are not whole characters.
        spare: number of single-byte tokens that are never used, because their characters have
            tokens.
        rewritten: number of tokens whose text the normalizer changes, by what it changes in them:
            `white space`, `not composed` characters, `compatibility` characters, or `other`.
        alone: number of tokens of whole characters for which encode(decode([id])) != [id].
        unreachable: those of them that `encode` does not give between other texts either, without
            the spare and the rewritten ones.
        hazards: added tokens that text can spell; None if the added tokens are not known.
        missing_bytes: byte values, 0 to 255, that no token spells by itself.
        losses: what a text loses when the tokenizer reads and writes it, as BERT's does; empty if
            hardly anything.
        no_structure_reason: why the tokenizer's algorithm is not known exactly; empty if it is.
        broken: number of the partial tokens that certainly no text is encoded to: no valid UTF-8
            has their bytes, or the algorithm does not give them for their own bytes.
        never: number of ids that no text is encoded to: the special ones, except those in
            `hazards`; the spare, the rewritten, the unreachable and the broken ones.
        never_share: the same as a share of all ids.
        renamed: number of the spare and the unreachable tokens for which `encode` gives one other
            token. For all others of them it gives several.
        rejections: what each mode refuses of the text; None without a text.
        notes: what a receiver who opens the same files in another way reads otherwise.
    """

    kind: str
    vocab_size: int
    digest: str
    mode: Mode
    method: Method
    why: str
    checks: int
    build_seconds: float
    load_seconds: float
    tables: Path | None
    special: int
    partial: int
    spare: int
    rewritten: Mapping[str, int]
    alone: int
    unreachable: tuple[Unreachable, ...]
    hazards: tuple[Hazard, ...] | None
    missing_bytes: tuple[int, ...]
    losses: str = ""
    no_structure_reason: str = ""
    broken: int = 0
    never: int = 0
    never_share: float = 0.0
    renamed: int = 0
    rejections: Rejections | None = None
    notes: tuple[str, ...] = ()

    @property
    def rung(self) -> str:
        """Deprecated: the old spelling of `method` (mask, tail or oracle)."""
        warn_deprecated("Audit.rung", "Audit.method (table, suffix or retokenize)")
        return old_name_of(self.method)


@keywords_after(1)
def audit(
    tokenizer: Tokenizer | object,
    *,
    mode: Mode = "prefix",
    text: str = "",
    model: LanguageModel | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Audit:
    """Examine a tokenizer. Takes seconds to minutes: every token is encoded several times.

    The tables of the tokenizer are built again and stored.

    Args:
        tokenizer: any tokenizer that `ticore.wrap` accepts.
        mode: which lists of tokens may stand at the beginning of a text, see `ticore.Verifier`.
        text: real text, of which it is counted what each mode would refuse.
        model: gives these tokens' surprisal; it must have this tokenizer.
        progress: called as `progress(done, total)`, in tokens.

    Returns:
        What was found.

    Raises:
        SettingsError, ModelFilesError: as `ticore.Verifier`; or the model has another tokenizer.

    >>> import ticore
    >>> found = audit(ticore.load_tokenizer("tiny-en"))
    >>> found.kind, found.method, len(found.unreachable)
    ('bpe', 'table', 0)
    """
    tokenizer = wrap(tokenizer)
    structure = tokenizer.structure()
    forget(tokenizer)
    with table_cache.ignore_stored():
        _, build_seconds = _timed(tokenizer, mode)
    forget(tokenizer)
    verifier, load_seconds = _timed(tokenizer, mode)
    spelled = spelled_by(tokenizer)
    ordinary = [i for i in range(tokenizer.vocab_size) if i not in tokenizer.special_ids]
    whole = [i for i in ordinary if _is_whole(spelled[i])]
    reader = TextReader(tokenizer, text, model) if text else None
    tell = _Progress(progress, len(whole) + (0 if reader is None else reader.steps))
    alone = _lost_alone(tokenizer, whole, tell)
    lost = _lost_anywhere(tokenizer, {i: spelled[i].decode() for i in alone})
    spare = lost.intersection(() if structure is None else structure.byte_ids)
    rewritten = _rewritten(structure, {i: spelled[i].decode() for i in sorted(lost - spare)})
    read_as = {
        i: _read_after_another(tokenizer, spelled[i].decode())
        for i in sorted(lost - rewritten.keys())
    }
    hazards = None if structure is None else _hazards(tokenizer, structure.added_tokens)
    forged = {hazard.token for hazard in hazards or ()}
    partial = sorted(set(ordinary) - set(whole))
    broken = never_given(structure, partial, spelled)
    never = len(tokenizer.special_ids - forged) + len(lost) + len(broken)
    return Audit(
        kind="unknown" if structure is None else structure.kind,
        vocab_size=tokenizer.vocab_size,
        digest=tokenizer.digest(),
        mode=mode,
        method=verifier.method,
        why=verifier.why,
        checks=verifier.checks,
        build_seconds=build_seconds,
        load_seconds=load_seconds,
        tables=table_cache.folder(),
        special=len(tokenizer.special_ids),
        partial=len(partial),
        spare=len(spare),
        rewritten=dict(Counter(rewritten.values())),
        alone=len(alone),
        unreachable=tuple(
            Unreachable(i, spelled[i].decode(), ids) for i, ids in read_as.items() if i not in spare
        ),
        hazards=hazards,
        missing_bytes=tuple(sorted(set(range(256)) - {s[0] for s in spelled if len(s) == 1})),
        losses=tokenizer.losses if isinstance(tokenizer, LossyTokenizer) else "",
        no_structure_reason=getattr(tokenizer, "no_structure_reason", ""),
        broken=len(broken),
        never=never,
        never_share=never / tokenizer.vocab_size,
        renamed=sum(len(ids) == 1 for ids in read_as.values()),
        rejections=None if reader is None else reader.read(tell),
    )


class _Progress:
    """Calls `told(done, total)` with all that was done so far."""

    def __init__(self, told: Callable[[int, int], None] | None, total: int) -> None:
        self._told, self._done, self._total = told, 0, total

    def __call__(self, more: int) -> None:
        self._done += more
        if self._told is not None:
            self._told(self._done, self._total)


def _timed(tokenizer: Tokenizer, mode: Mode) -> tuple[Verifier, float]:
    started = time.perf_counter()
    return Verifier(tokenizer, mode=mode), time.perf_counter() - started


def _lost_alone(
    tokenizer: Tokenizer, tokens: Sequence[int], progress: Callable[[int], None]
) -> list[int]:
    """Those of `tokens` for which encode(decode([id])) != [id]."""
    found = []
    for start in range(0, len(tokens), _BATCH):
        batch = tokens[start : start + _BATCH]
        again = tokenizer.encode_batch([tokenizer.decode([i]) for i in batch])
        found += [i for i, ids in zip(batch, again, strict=True) if ids != [i]]
        progress(len(batch))
    return found


def _lost_anywhere(tokenizer: Tokenizer, texts: Mapping[int, str]) -> set[int]:
    """The tokens that `encode` does not give for their texts between other texts either."""
    left = dict(texts)
    for after, before in product(_AFTER, _BEFORE):
        expected = tokenizer.encode(before)
        again = tokenizer.encode_batch([before + text + after for text in left.values()])
        for token, ids in zip(list(left), again, strict=True):
            if ids[: len(expected) + 1] == [*expected, token]:
                del left[token]
    return set(left)


def _read_after_another(tokenizer: Tokenizer, text: str) -> tuple[int, ...]:
    """The ids that `encode` gives for `text` after another text, so without a dummy prefix."""
    for before in _BEFORE:
        expected, ids = tokenizer.encode(before), tokenizer.encode(before + text)
        if ids[: len(expected)] == expected:
            return tuple(ids[len(expected) :])
    return tuple(tokenizer.encode(text))


def _rewritten(structure: TokenizerStructure | None, texts: Mapping[int, str]) -> dict[int, str]:
    """For each text that the normalizer changes, what it changes there."""
    if structure is None:
        return {}
    normalization = Normalization(structure)
    return {i: _kind_of_change(text) for i, text in texts.items() if not normalization.keeps(text)}


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
    """Whether `data` is one or more whole characters."""
    return bool(data) and is_complete(data)
