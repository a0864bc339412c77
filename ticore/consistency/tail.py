"""Where a list of tokens can be cut so that what follows never again changes what came before.

Such a *stable cut* splits encode(text) into two encodings for every continuation of the text.
A consistent list stays consistent iff the part after its last stable cut does, and that part is
short. Finding cuts needs to know how the tokenizer works; where its structure is not one of those
below, there is no finder, and the whole list is retokenised.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from ..interfaces import Tokenizer, TokenizerStructure
from .added import AddedTokens
from .modes import pending
from .normalization import Normalization
from .patterns import KNOWN, Splitter


class CutFinder(Protocol):
    """Finds stable cuts in lists that a text may begin with."""

    def advance(self, ids: Sequence[int], cut: int) -> int:
        """The last stable cut of the list `ids`, given that `cut` is one."""
        ...


def cut_finder(tokenizer: Tokenizer) -> CutFinder | str:
    """The finder that is exact for this tokenizer, or the reason why there is none."""
    structure = tokenizer.structure()
    if structure is None:
        return "the tokenizer's structure is not known"
    if why := _obstacle(structure):
        return why
    spelled = [tokenizer.token_bytes(i) for i in range(tokenizer.vocab_size)]
    if structure.pretokenizer:
        return _PretokenCuts(structure, spelled)
    return WordCuts(spelled, structure.added_tokens)


def _obstacle(structure: TokenizerStructure) -> str:
    """What keeps this structure from having stable cuts that are known here; empty if nothing."""
    whole = not structure.pretokenizer
    if structure.kind != "bpe":
        # Unigram adds up float32 scores from the text's start: where two segmentations tie,
        # the rounding of that sum decides, and a cut would change it.
        return f"a {structure.kind} tokenizer has no stable cuts"
    if structure.normalizer not in (("identity",) if whole else ("identity", "nfc")):
        return f"the normaliser {structure.normalizer!r} may work across a cut"
    if whole and not structure.keeps_whitespace:
        return "the tokenizer drops spaces"
    if not whole and (len(structure.pretokenizer) > 1 or structure.pretokenizer[0] not in KNOWN):
        return "the pretokenizer's regular expression is not one of those known"
    return ""


class WordCuts:
    """BPE over the whole text: cut before a space that no token has inside, after that character.

    A merge that crosses the cut would make a token that holds the last byte before the cut
    followed by a space. If no token does, merges left and right of it never meet, and best-first
    order keeps each side's own order. The part after the cut must begin with a space and
    something else, so that a dummy prefix stands in for exactly that space.
    """

    def __init__(self, spelled: Sequence[bytes], added: Iterable[str]) -> None:
        # Two spaces in a row may share a token even where none of this tokenizer's holds two.
        glued = {0x20}
        # A special token has no bytes, but its text is found all the same.
        for text in (*spelled, *(text.encode() for text in added)):
            at = text.find(b" ", 1)
            while at > 0:
                glued.add(text[at - 1])
                at = text.find(b" ", at + 1)
        self.begins = bytes(data[:1] == b" " and data[1:2] not in b" " for data in spelled)
        self.ends = bytes(data != b"" and data[-1] not in glued for data in spelled)

    def is_between(self, before: int, here: int) -> bool:
        """Whether the text can be cut between two neighbours."""
        return bool(self.begins[here] & self.ends[before])

    def advance(self, ids: Sequence[int], cut: int) -> int:
        for at in range(len(ids) - 1, cut, -1):
            if self.is_between(ids[at - 1], ids[at]):
                return at
        return cut


class _PretokenCuts:
    """Byte-level BPE on the matches of a known regular expression: cut between settled matches.

    No added token may be in the text, since the expression is not applied across one, nor half
    written across the cut. The character behind the cut must not compose with the one before it.
    """

    def __init__(self, structure: TokenizerStructure, spelled: Sequence[bytes]) -> None:
        self._spelled = spelled
        self._splitter = Splitter(structure.pretokenizer[0])
        self._normalization = Normalization(structure)
        self._added = AddedTokens(structure.added_tokens, spelled)

    def advance(self, ids: Sequence[int], cut: int) -> int:
        data = b"".join(self._spelled[i] for i in ids[cut:])
        try:
            text = data[: len(data) - len(pending(data))].decode()
        except UnicodeDecodeError:
            return cut
        left = len(text[: self._last_settled(text)].encode())
        for at in range(cut, len(ids)):
            if left == 0:
                return at
            left -= len(self._spelled[ids[at]])
            if left < 0:
                return cut
        return cut

    def _last_settled(self, text: str) -> int:
        """Index of the last settled boundary in `text`, 0 if there is none."""
        if self._added.occurs_in(text):
            return 0
        for at in self._splitter.settled(text):
            if not self._normalization.joins(text[at]) and not self._added.has_begun(text[:at]):
                return at
        return 0
