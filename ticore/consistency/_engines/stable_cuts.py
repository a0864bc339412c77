"""Stable cuts: places of a list where no text that follows changes the tokens before them.

At a *stable cut*, encode(text) is the tokens before it followed by the encoding of the rest, and
this holds for every continuation of the text. So a list stays consistent if and only if the part
after its last stable cut does. That part is short. Example: "one two three" in GPT-2 has a stable
cut before " three"; whatever follows, "one two" gives the same two tokens. The tokens before a cut
need not be what their text is encoded to alone: the character after the cut may matter to them.

To find cuts, one must know how the tokenizer works. Where its structure is not one of those below,
the whole list is retokenized.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from ..._support.utf8 import unfinished_suffix
from ...interfaces import Tokenizer, TokenizerStructure
from .._tokenizer_rules.added_tokens import AddedTokens
from .._tokenizer_rules.normalizers import Normalization
from .._tokenizer_rules.pretokenizers import WORDS, splitter_for
from .._unsupported import Unsupported
from .tokenizer_parts import spelled_by, structure_of


class CutFinder(Protocol):
    """Finds stable cuts in lists that a text may begin with. Thread-safe."""

    def advance(self, ids: Sequence[int], cut: int) -> int:
        """The last stable cut of the list `ids`, given that `cut` is one."""
        ...


def cut_finder(tokenizer: Tokenizer) -> CutFinder:
    """The finder that is exact for this tokenizer.

    Raises:
        Unsupported: there is none.
    """
    structure = structure_of(tokenizer)
    require_known(structure)
    spelled = spelled_by(tokenizer)
    if structure.pretokenizer:
        return _PretokenCuts(structure, spelled)
    return WordCuts(spelled, structure.added_tokens)


def require_known(structure: TokenizerStructure) -> None:
    """Refuse a structure whose stable cuts are not known.

    Raises:
        Unsupported: for such a structure.
    """
    whole = not structure.pretokenizer
    if any(flags.single_word for flags in structure.added_flags.values()):
        raise Unsupported("whether its added tokens are found depends on what stands beside them")
    if structure.kind != "bpe":
        # Unigram adds up float32 scores from the text's start: where two segmentations tie,
        # the rounding of that sum decides, and a cut would change it.
        raise Unsupported(f"a {structure.kind} tokenizer has no stable cuts")
    if structure.normalizer not in (("identity",) if whole else ("identity", "nfc")):
        raise Unsupported(f"the normalizer {structure.normalizer!r} may work across a cut")
    if whole and not structure.keeps_whitespace:
        raise Unsupported("the tokenizer drops spaces")
    if structure.atoms == "characters" and structure.pretokenizer not in ((), (WORDS,)):
        raise Unsupported("its pretokenizer splits texts of characters, and not at spaces alone")
    if not whole:
        splitter_for(structure.pretokenizer)


_SPACE = 0x20
_MARKS = (" ", "\u2581")  # SentencePiece reads both as a space


class WordCuts:
    """BPE over the whole text: cut before a space, where no token joins it to what stands before.

    A cut between a character c and a space is made if no token holds c followed by a space, and if
    the token after the cut begins with this one space and another character. Example: where no
    token holds "e ", "one two" can be cut before " two". Such a cut is stable for three reasons:

    1. No merge crosses it: the merge would make a token that holds c followed by a space.
    2. So the merges on the two sides never meet, and each side keeps the order of its own merges.
    3. The part after the cut can be read as a text by itself. If there is a dummy prefix, decode
       removes the part's first space, and encode puts it back.
    """

    def __init__(self, spelled: Sequence[bytes], added: Collection[str]) -> None:
        self._spelled = spelled
        self._added = added

    @cached_property
    def begins(self) -> bytes:
        """For each id, whether it begins with one space and another character: 1 or 0."""
        return self._found[0]

    @cached_property
    def ends(self) -> bytes:
        """For each id, whether no token joins its last character to a space: 1 or 0."""
        return self._found[1]

    @cached_property
    def _glued(self) -> bytes:
        """For each byte, whether some token joins it to a space: 1 or 0."""
        return self._found[2]

    @cached_property
    def _found(self) -> tuple[bytes, bytes, bytes]:
        """`begins`, `ends`, `_glued`. Not before they are asked for, which they need not be."""
        spelled = self._spelled
        # A special token has no bytes here, but a tokenizer may find its text all the same.
        texts = [*spelled, *(text.encode() for text in self._added)]
        lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        data = np.frombuffer(b"".join(texts), dtype=np.uint8)
        starts = np.cumsum(lengths) - lengths
        is_space = data == _SPACE
        is_inside = np.ones(len(data), dtype=bool)  # after the first byte of a text
        is_inside[starts[lengths > 0]] = False
        is_glued = np.zeros(256, dtype=bool)
        # A space joins a space, even if no token of this tokenizer holds two of them.
        is_glued[_SPACE] = True
        is_glued[data[np.flatnonzero(is_space & is_inside) - 1]] = True

        lengths, starts = lengths[: len(spelled)], starts[: len(spelled)]
        begins, ends = np.zeros((2, len(spelled)), dtype=bool)
        longer = np.flatnonzero(lengths > 1)
        begins[longer] = is_space[starts[longer]] & ~is_space[starts[longer] + 1]
        some = np.flatnonzero(lengths)
        ends[some] = ~is_glued[data[starts[some] + lengths[some] - 1]]
        return begins.tobytes(), ends.tobytes(), is_glued.tobytes()

    def splits(self, before: str, after: str) -> bool:
        """Whether a text can be cut between a character and a space, followed by `after`."""
        return after not in _MARKS and before not in _MARKS and not self._glued[before.encode()[-1]]

    def is_between(self, before: int, here: int) -> bool:
        """Whether the text can be cut between two neighbouring ids."""
        return bool(self.begins[here] & self.ends[before])

    def advance(self, ids: Sequence[int], cut: int) -> int:
        for at in range(len(ids) - 1, cut, -1):
            if self.is_between(ids[at - 1], ids[at]):
                return at
        return cut


class _PretokenCuts:
    """Byte-level BPE after a pretokenizer: cut at a boundary that no text moves any more.

    Such a boundary is no cut in four cases:

    1. The text holds an added token: the expression is not applied across one. Example: "<t>".
    2. The text before the boundary ends with the beginning of an added token. Example: "<".
    3. The character after the boundary may compose with the one before it. Example: U+0301.
    4. The tokenizer would put a space before the text after the boundary.
    """

    def __init__(self, structure: TokenizerStructure, spelled: Sequence[bytes]) -> None:
        self._spelled = spelled
        self._splitter = splitter_for(structure.pretokenizer)
        self._adds_space = structure.adds_leading_space
        self._normalization = Normalization(structure)
        self._added = AddedTokens(structure.added_tokens, spelled)

    def advance(self, ids: Sequence[int], cut: int) -> int:
        data = b"".join(self._spelled[i] for i in ids[cut:])
        try:
            text = data[: len(data) - len(unfinished_suffix(data))].decode()
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
        """The offset of the last cut in `text`, in characters; 0 if there is none."""
        if self._added.occurs_in(text):
            return 0
        for at in self._splitter.settled(text):
            if self._adds_space and text[at] != " ":
                continue
            if not self._normalization.joins(text[at]) and not self._added.ends_in_beginning(
                text[:at]
            ):
                return at
        return 0
