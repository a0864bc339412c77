"""Where a list of tokens can be cut so that what follows never again changes what came before.

Such a *stable cut* splits encode(text) into two encodings for every continuation of the text.
A consistent list stays consistent iff the part after its last stable cut does, and that part is
short. Finding cuts needs to know how the tokenizer works; where its structure is not one of those
below, there is no finder, and the whole list is retokenised.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Protocol

import regex

from ..interfaces import Tokenizer, TokenizerStructure

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN2 = CL100K.replace(r"\p{N}{1,3}", r"\p{N}")
# In all of these a boundary depends on at most two characters after it.
_KNOWN_PATTERNS = frozenset({GPT2, CL100K, QWEN2})


class CutFinder(Protocol):
    """Finds stable cuts in consistent lists."""

    def advance(self, ids: Sequence[int], cut: int) -> int:
        """The last stable cut of the consistent list `ids`, given that `cut` is one."""
        ...


def cut_finder(tokenizer: Tokenizer) -> CutFinder | str:
    """The finder that is exact for this tokenizer, or the reason why there is none."""
    structure = tokenizer.structure()
    if structure is None:
        return "the tokenizer's structure is not known"
    if why := _obstacle(structure):
        return why
    if structure.pretokenizer is None:
        return _WordCuts(tokenizer)
    return _PretokenCuts(tokenizer, structure)


def _obstacle(structure: TokenizerStructure) -> str:
    """What keeps this structure from having stable cuts that are known here; empty if nothing."""
    whole = structure.pretokenizer is None
    if structure.kind != "bpe":
        # Unigram adds up float32 scores from the text's start: where two segmentations tie,
        # the rounding of that sum decides, and a cut would change it.
        return f"a {structure.kind} tokenizer has no stable cuts"
    if structure.normalizer not in (("identity",) if whole else ("identity", "nfc")):
        return f"the normaliser {structure.normalizer!r} may work across a cut"
    if whole and not structure.keeps_whitespace:
        return "the tokenizer drops spaces"
    if not whole and structure.pretokenizer not in _KNOWN_PATTERNS:
        return "the pretokenizer's regular expression is not one of those known"
    return ""


class _WordCuts:
    """BPE over the whole text: cut before a space that no token has inside, after that character.

    A merge that crosses the cut would make a token that holds the last byte before the cut
    followed by a space. If no token does, merges left and right of it never meet, and best-first
    order keeps each side's own order. The part after the cut must begin with a space and
    something else, so that a dummy prefix stands in for exactly that space.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._bytes = [tokenizer.token_bytes(i) for i in range(tokenizer.vocab_size)]
        self._glued = {
            text[at - 1] for text in self._bytes for at in range(1, len(text)) if text[at] == 0x20
        }
        # Two spaces in a row may share a token even where none of this tokenizer's holds two.
        self._glued.add(0x20)

    def advance(self, ids: Sequence[int], cut: int) -> int:
        for at in range(len(ids) - 1, cut, -1):
            here, before = self._bytes[ids[at]], self._bytes[ids[at - 1]]
            starts_word = len(here) > 1 and here[0] == 0x20 and here[1] != 0x20
            if starts_word and before and before[-1] not in self._glued:
                return at
        return cut


class _PretokenCuts:
    """Byte-level BPE on the matches of a known regular expression: cut between settled matches.

    A boundary b of the text x is settled if x[b:] holds a character that is no space and x goes
    on for at least two characters after b. Further, no added token may be in x, since the
    expression is not applied across one, nor half written across b; the character at b must not
    compose with the one before it; and libraries must agree on the class of every character:
    unassigned ones differ by Unicode version, and a long s is an s to some that ignore case.
    """

    def __init__(self, tokenizer: Tokenizer, structure: TokenizerStructure) -> None:
        self._tokenizer = tokenizer
        self._pattern = regex.compile(structure.pretokenizer or "")
        self._composes = structure.normalizer == "nfc"
        self._added = structure.added_tokens
        self._beginnings = {t[:n] for t in structure.added_tokens for n in range(1, len(t))}
        self._longest = max(map(len, structure.added_tokens), default=0)

    def advance(self, ids: Sequence[int], cut: int) -> int:
        text = self._tokenizer.decode(ids[cut:])
        settled = self._last_settled(text)
        if not settled:
            return cut
        left = len(text[:settled].encode())
        for at in range(cut, len(ids)):
            if left == 0:
                return at
            left -= len(self._tokenizer.token_bytes(ids[at]))
            if left < 0:
                return cut
        return cut

    def _last_settled(self, text: str) -> int:
        """Index of the last settled boundary in `text`, 0 if there is none."""
        if any(c == "\u017f" or unicodedata.category(c) == "Cn" for c in text):
            return 0
        if any(token in text for token in self._added):
            return 0
        last = len(text.rstrip()) - 1
        for match in reversed(list(self._pattern.finditer(text))):
            at = match.start()
            if 0 < at <= min(last, len(text) - 2) and self._is_clean(text, at):
                return int(at)
        return 0

    def _is_clean(self, text: str, at: int) -> bool:
        if self._composes and not _never_composes(text[at]):
            return False
        reach = range(max(0, at - self._longest), at)
        return not any(text[start:at] in self._beginnings for start in reach)


def _never_composes(character: str) -> bool:
    """Whether NFC leaves a character alone whatever precedes it; False where that is not certain.

    True for the ranges below the combining marks, for unvoiced-mark kana and for ideographs.
    """
    return (
        character < "\u0300"
        or "\u3041" <= character <= "\u3096"
        or "\u30a1" <= character <= "\u30fa"
        or "\u3400" <= character <= "\u9fff"
    )
