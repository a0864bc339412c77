"""Verification for unigram tokenizers, without the tokenizer.

A list is consistent if three conditions hold:

1. **Pieces.** Each piece is the last one in the best segmentation of the text that ends with it.
   What follows never changes that, so each piece is tested once; `viterbi` says how. Example: with
   the pieces "a", "b" and the more probable "ab", the list "a", "b" is not consistent, since "ab"
   is read as one piece.
2. **Bytes.** Each byte token belongs to a character that is not a piece, and the bytes of the
   character come one after the other. Example: "😀" comes as four byte tokens, F0 9F 98 80.
3. **The normalizer** leaves the text as it is: if it changes a text, no list for that text comes
   back. Example: NFKC makes "fi" of the ligature U+FB01.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...._support.caches import cached_method
from ...._support.packed_bits import Words, pack
from ...._support.utf8 import unfinished_suffix
from ....interfaces import TokenizerStructure
from ..._modes import CONTINUATIONS, Mode
from ..._tokenizer_rules.characters import completions
from ..base import Bools, Ids, Recovery, Unsupported
from .lattice import Lattice
from .viterbi import Trie, ViterbiState

# Each changes a text if and only if it changes a character or two neighbours of it, taken alone.
_PAIRWISE = ("identity", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf")
# After any one character, each of these changes fewer characters than this together with it.
_ENOUGH = 256
# Stands for any neighbour: none of these changes it, alone or with another character.
_NEUTRAL = "|"
# SentencePiece reads this character as a space, and writes a space for it.
_SPACE_SIGN = "\N{LOWER ONE EIGHTH BLOCK}"


def _require_known(structure: TokenizerStructure) -> None:
    """Refuse a structure that `UnigramEngine` is not exact for.

    Raises:
        Unsupported: for such a structure.
    """
    kind, atoms, name = structure.kind, structure.atoms, structure.normalizer
    scores = None if structure.scores is None else structure.scores[structure.pieces]
    reasons = (
        (
            (kind, atoms) != ("unigram", "characters"),
            f"a {kind} tokenizer of {atoms} is not a unigram tokenizer of characters",
        ),
        (
            scores is None or not len(scores) or not np.isfinite(scores).all(),
            "its pieces have no scores, or infinite ones",
        ),
        (
            name not in _PAIRWISE,
            f"the normalizer {name!r} may change more than pairs of characters",
        ),
        (
            name != "identity" and structure.normalize is None,
            f"what the normalizer {name!r} does is not known",
        ),
        (bool(structure.added_tokens), "added tokens compete with its pieces"),
        (bool(structure.pretokenizer), "a pretokenizer splits the text"),
    )
    for applies, why in reasons:
        if applies:
            raise Unsupported(why)


class UnigramState(NamedTuple):
    """A list that is the best segmentation of its text, up to the last whole character.

    Attributes:
        best: the best segmentation up to there.
        last: the last whole character, empty if there is none. One is enough: every change of a
            normalizer here shows in two neighbours, and so does a second space.
        unfinished: the bytes of the character that the list ends inside; empty if there is none.
    """

    best: ViterbiState = ViterbiState()
    last: str = ""
    unfinished: bytes = b""


class UnigramEngine:
    """An engine for unigram tokenizers, such as SentencePiece's. Thread-safe.

    The state None stands for all lists that no text begins with, whatever follows.

    Args:
        structure: of the tokenizer.
        spelled: the bytes of each id.
        special_ids: ids that no list may hold, not even where `encode` gives one for an unknown
            character.
        mode: see `ticore.consistency._modes`.

    Raises:
        Unsupported: the answers would not be exact for the structure.
    """

    def __init__(
        self,
        structure: TokenizerStructure,
        spelled: Sequence[bytes],
        special_ids: frozenset[int],
        mode: Mode,
    ) -> None:
        _require_known(structure)
        assert structure.scores is not None  # as it has just been found
        self._mode = mode
        self._size = len(spelled)
        self._dummy_prefix = structure.dummy_prefix
        self._drops_spaces = not structure.keeps_whitespace
        self._normalize = structure.normalize
        self._leaves_all = structure.normalize is None and structure.keeps_whitespace

        pieces = {i: spelled[i].decode() for i in np.flatnonzero(structure.pieces).tolist()}
        self._trie = Trie({text: float(structure.scores[i]) for i, text in pieces.items()})
        self._lattice = Lattice(self._trie)
        self._ends = frozenset(text[-1] for text in pieces.values())
        self._texts = {
            i: text for i, text in pieces.items() if i not in special_ids and self._is_kept(text)
        }
        self._bytes = {i: bytes([value]) for value, i in enumerate(structure.byte_ids)}

        # int64[len(self._texts)]: id, node, and the number of the first character.
        texts = list(self._texts.values())
        self._ids = np.array(list(self._texts), dtype=np.int64)
        self._nodes = np.array([self._trie.nodes[text] for text in texts], dtype=np.int64)
        self._first_characters = sorted({text[0] for text in texts})
        places = {first: place for place, first in enumerate(self._first_characters)}
        self._first_of = np.array([places[text[0]] for text in texts], dtype=np.int64)
        self._spaced = [i for i, text in self._texts.items() if text[-1] == " "]

        self._continuations = [self._read_inside(text) for text in CONTINUATIONS]

    def start(self) -> UnigramState | None:
        """The state of the empty list."""
        return UnigramState()

    def step(self, state: UnigramState | None, token: int) -> UnigramState | None:
        """The state of the list followed by `token`, any id."""
        if state is None:
            return None
        text = self._texts.get(token)
        if text is not None:
            return None if state.unfinished else self._append(state, text)
        if token not in self._bytes or (self._dummy_prefix and not state.last):
            return None
        data = state.unfinished + self._bytes[token]
        if unfinished_suffix(data) == data:
            return state._replace(unfinished=data)
        try:
            character = data.decode()
        except UnicodeDecodeError:
            return None
        return self._spell(state, character)

    def admits(self, state: UnigramState | None, candidates: Ids) -> Bools:
        """For each candidate, whether a text may begin with the list followed by it: bool[n]."""
        return np.array([self._admits_one(state, t) for t in candidates.tolist()], dtype=bool)

    def step_if_admitted(self, state: UnigramState | None, token: int) -> UnigramState | None:
        """`step`, if a text may begin with the list followed by `token`; else None."""
        longer = self.step(state, token)
        return longer if self._may_begin(longer) else None

    def step_if_refused(self, state: UnigramState | None, token: int) -> UnigramState | Recovery:
        """See Engine. A state that is not None answers for its list in every mode."""
        return self.step(state, token) or Recovery.NEVER

    def tokens_since_cut(self, state: UnigramState | None) -> int | None:
        """See Engine."""
        return None

    def mask(self, state: UnigramState | None) -> Bools:
        """`admits` of the whole vocabulary, the caller's own: bool[vocab_size]."""
        answers = np.zeros(self._size, dtype=bool)
        if state is None:
            return answers
        one_by_one = list(self._bytes)
        if not state.unfinished:
            whole, unsure = self._lattice.ends_whole(state.best)
            answers[self._ids] = whole[self._nodes] & self._pieces_that_join(state.last)
            one_by_one += self._ids[unsure[self._nodes]].tolist()
            # Some texts may not end in a space.
            if self._drops_spaces or not state.last:
                one_by_one += self._spaced
        for token in one_by_one:
            answers[token] = self._admits_one(state, token)
        return answers

    def packed_mask(self, state: UnigramState | None, out: Words) -> None:
        out[:] = pack(self.mask(state))

    def never_recovers(self, state: UnigramState | None, token: int) -> bool:
        """Whether it is known that no consistent list begins with this one and `token`."""
        return self.step(state, token) is None

    def is_consistent(self, state: UnigramState | None) -> bool:
        """Whether the text may end here: encode(decode(list)) == list."""
        if state is None or state.unfinished:
            return False
        if state.last == " ":
            # A dummy prefix alone is not a text, and spaces at the end may be dropped.
            prefix_alone = self._dummy_prefix and state.best.position == 1
            return not (prefix_alone or self._drops_spaces)
        return True

    def _admits_one(self, state: UnigramState | None, token: int) -> bool:
        return self.step_if_admitted(state, token) is not None

    def _append(self, state: UnigramState, text: str) -> UnigramState | None:
        """The state after `text`, if the best segmentation ends in it.

        Args:
            text: a piece, or a character that is not a piece.
        """
        if not self._joins(state.last, text[0]):
            return None
        best, start = self._trie.extend(state.best, text)
        return UnigramState(best, text[-1]) if start == state.best.position else None

    def _spell(self, state: UnigramState, character: str) -> UnigramState | None:
        """The state after a character that was spelled by its bytes."""
        if character == _SPACE_SIGN or self._trie.knows(character):
            return None
        return self._append(state, character) if self._is_kept(character) else None

    def _joins(self, last: str, character: str) -> bool:
        """Whether `character` may follow `last`, which is empty at the beginning of a text."""
        if last:
            return self._leaves_all or self._is_kept(last + character)
        if self._dummy_prefix:
            return character == " "
        return not (self._drops_spaces and character == " ")

    @cached_method(1 << 16)
    def _is_kept(self, text: str) -> bool:
        """Whether the normalizer leaves a few characters as they are inside a text."""
        return not (self._drops_spaces and "  " in text) and self._read_inside(text) == text

    def _read_inside(self, text: str) -> str:
        """What the normalizer makes of `text` between characters that it does not change."""
        if self._normalize is None:
            return text
        return self._normalize(f"{_NEUTRAL}{text}{_NEUTRAL}")[1:-1]

    @cached_method(64)
    def _pieces_that_join(self, last: str) -> Bools:
        """bool[len(self._texts)]: pieces whose first character may follow `last`."""
        if last and self._leaves_all:
            return np.ones(len(self._first_of), dtype=bool)
        joins = [self._joins(last, first) for first in self._first_characters]
        return np.array(joins, dtype=bool)[self._first_of]

    def _may_begin(self, state: UnigramState | None) -> bool:
        """Whether a text may begin with the list; the mode defines that."""
        if state is None:
            return False
        if state.unfinished:
            return self._mode != "prefix" and self._may_finish(state)
        return self.is_consistent(state) or (self._mode == "viable" and self._may_go_on(state))

    def _may_finish(self, state: UnigramState) -> bool:
        """Whether some character completes the unfinished one."""
        tried = self._completions(state.unfinished)
        return any(self._spell(state, character) is not None for character in tried)

    @cached_method(1024)
    def _completions(self, unfinished: bytes) -> tuple[str, ...]:
        """Characters that begin with `unfinished`, as many of them as need to be tried.

        1. A character that is a piece is spelled by the piece, and not by bytes: it is left out.
        2. A character that the normalizer changes does not come back: it is left out.
        3. If no piece ends with a character, the best segmentation of any text that ends with it
           ends with this character alone. So the character completes the list, unless the
           normalizer changes it together with the character before. The normalizer does so for
           fewer than `_ENOUGH` characters after any one character. So of `_ENOUGH` such characters
           one succeeds, and more need not be tried; without a normalizer, one is enough. They come
           first.
        """
        enough = 1 if self._normalize is None else _ENOUGH
        found, free = [], 0
        for character in completions(unfinished):
            if not self._trie.knows(character) and self._is_kept(character):
                found.append(character)
                free += character not in self._ends
                if free == enough:
                    break
        return tuple(sorted(found, key=self._ends.__contains__))

    def _may_go_on(self, state: UnigramState) -> bool:
        """Whether a list that ends in a space, where no text may end, has a continuation.

        No normalizer here changes a character together with a space before it.
        """
        for text in self._continuations:
            more = text.strip(" ") if self._drops_spaces else text
            if more and self._boundary_stays(state.best, more):
                return True
        return False

    def _boundary_stays(self, best: ViterbiState, text: str) -> bool:
        """Whether the best segmentation still has a boundary at `best` if `text` follows."""
        starts = {}
        at, longer = best.position, best
        for character in text:
            longer, start = self._trie.extend(longer, character)
            at += 1
            starts[at] = start
        while at > best.position:
            at = starts[at]
        return at == best.position
