"""Verification for unigram tokenizers, without the tokenizer.

What follows a place of a text never changes how the text before it is segmented best. So a list is
right iff it is right without its last token, and the best segmentation of its text ends in that
token: the frontier tells. Beyond that, a character that is no piece is spelled by its bytes, one
after the other, and what a normaliser would change is spelled by no list.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..interfaces import TokenizerStructure
from .engine import Bools, Hope, Ids
from .frontier import Frontier, Trie
from .lattice import Lattice
from .modes import CONTINUATIONS, Mode, completions, pending

# These change a text iff they change one of its characters, or two neighbours by themselves.
_PAIRWISE = ("identity", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf")
# More than the characters that one of these changes behind one and the same character.
_ENOUGH = 256
# No rule of theirs holds this.
_NEUTRAL = "|"
# SentencePiece reads this as a space, and writes a space for it.
_SPACE_SIGN = "\N{LOWER ONE EIGHTH BLOCK}"


def obstacle(structure: TokenizerStructure) -> str:
    """Why `UnigramEngine` is not exact for a structure; empty if it is."""
    kind, atoms, name = structure.kind, structure.atoms, structure.normalizer
    scores = None if structure.scores is None else structure.scores[structure.pieces]
    reasons = (
        (
            (kind, atoms) != ("unigram", "characters"),
            f"a {kind} tokenizer of {atoms} is no unigram of characters",
        ),
        (
            scores is None or not len(scores) or not np.isfinite(scores).all(),
            "its pieces have no scores, or odd ones",
        ),
        (
            name not in _PAIRWISE,
            f"the normaliser {name!r} may change more than pairs of characters",
        ),
        (
            name != "identity" and structure.normalize is None,
            f"what the normaliser {name!r} does is not known",
        ),
        (bool(structure.added_tokens), "added tokens compete with its pieces"),
        (bool(structure.pretokenizer), "a pretokenizer splits the text"),
    )
    return next((why for applies, why in reasons if applies), "")


class State(NamedTuple):
    """A list whose whole characters are segmented best as it says.

    Attributes:
        frontier: behind the last whole character.
        last: that character, empty if there is none. One is enough: all that the normalisers here
            replace shows in two neighbours, and so does a second space.
        unfinished: the bytes of the character that the list ends in, mostly none.
    """

    frontier: Frontier = Frontier()
    last: str = ""
    unfinished: bytes = b""


class UnigramEngine:
    """An engine for structures that have no `obstacle`.

    Its state None stands for lists that no text begins with, whatever follows them.

    Args:
        structure: of the tokenizer.
        spelled: the bytes of each id.
        special_ids: ids that no list may hold, not even where `encode` gives one for an unknown
            character.
        mode: see `ticore.consistency.modes`.
    """

    def __init__(
        self,
        structure: TokenizerStructure,
        spelled: Sequence[bytes],
        special_ids: frozenset[int],
        mode: Mode,
    ) -> None:
        assert structure.scores is not None, "see `obstacle`"
        self._mode = mode
        self._size = len(spelled)
        self._dummy_prefix = structure.dummy_prefix
        self._squeezes = not structure.keeps_whitespace
        self._normalize = structure.normalize
        self._idle = structure.normalize is None and structure.keeps_whitespace
        self._keeps = lru_cache(maxsize=1 << 16)(self._is_kept)

        pieces = {i: spelled[i].decode() for i in np.flatnonzero(structure.pieces).tolist()}
        self._trie = Trie({text: float(structure.scores[i]) for i, text in pieces.items()})
        self._lattice = Lattice(self._trie)
        self._ends = frozenset(text[-1] for text in pieces.values())
        self._texts = {
            i: text for i, text in pieces.items() if i not in special_ids and self._is_kept(text)
        }
        self._bytes = {i: bytes([value]) for value, i in enumerate(structure.byte_ids)}

        # int64[len(self._texts)]: id, node, and which of the different first characters.
        texts = list(self._texts.values())
        self._ids = np.array(list(self._texts), dtype=np.int64)
        self._nodes = np.array([self._trie.nodes[text] for text in texts], dtype=np.int64)
        self._firsts = sorted({text[0] for text in texts})
        places = {first: place for place, first in enumerate(self._firsts)}
        self._first = np.array([places[text[0]] for text in texts], dtype=np.int64)
        self._spaced = [i for i, text in self._texts.items() if text[-1] == " "]

        self._continuations = [self._read_inside(text) for text in CONTINUATIONS]
        self._joinable = lru_cache(maxsize=64)(self._pieces_that_join)
        self._worth_trying = lru_cache(maxsize=1024)(self._completions)

    def start(self) -> State | None:
        """The state of the empty list."""
        return State()

    def step(self, state: State | None, token: int) -> State | None:
        """The state of the list followed by `token`, any id."""
        if state is None:
            return None
        text = self._texts.get(token)
        if text is not None:
            return None if state.unfinished else self._append(state, text)
        if token not in self._bytes or (self._dummy_prefix and not state.last):
            return None
        data = state.unfinished + self._bytes[token]
        if pending(data) == data:
            return state._replace(unfinished=data)
        try:
            character = data.decode()
        except UnicodeDecodeError:
            return None
        return self._spell(state, character)

    def admits(self, state: State | None, candidates: Ids) -> Bools:
        """For each candidate, whether a text may begin with the list followed by it: bool[n]."""
        return np.array([self._admits_one(state, t) for t in candidates.tolist()], dtype=bool)

    def follow(self, state: State | None, token: int) -> State | None:
        """`step`, if a text may begin with the list followed by `token`; else None."""
        longer = self.step(state, token)
        return longer if self._may_begin(longer) else None

    def aside(self, state: State | None, token: int) -> State | Hope:
        """See Engine: a state that is not None tells all there is to know of its list."""
        return self.step(state, token) or Hope.NONE

    def kept(self, state: State | None) -> int | None:
        """See Engine."""
        return None

    def mask(self, state: State | None) -> Bools:
        """`admits` of the whole vocabulary, the caller's own: bool[vocab_size]."""
        answers = np.zeros(self._size, dtype=bool)
        if state is None:
            return answers
        one_by_one = list(self._bytes)
        if not state.unfinished:
            whole, unsure = self._lattice.ends_whole(state.frontier)
            answers[self._ids] = whole[self._nodes] & self._joinable(state.last)
            one_by_one += self._ids[unsure[self._nodes]].tolist()
            # A text may not end in every space.
            if self._squeezes or not state.last:
                one_by_one += self._spaced
        for token in one_by_one:
            answers[token] = self._admits_one(state, token)
        return answers

    def loses(self, state: State | None, token: int) -> bool:
        """Whether it is known that no consistent list begins with this one and `token`."""
        return self.step(state, token) is None

    def finished_ok(self, state: State | None) -> bool:
        """Whether the text may end here: encode(decode(list)) == list."""
        if state is None or state.unfinished:
            return False
        if state.last == " ":
            # There is no dummy prefix where there is no text; spaces at the end may be dropped.
            alone = self._dummy_prefix and state.frontier.position == 1
            return not (alone or self._squeezes)
        return True

    def _admits_one(self, state: State | None, token: int) -> bool:
        return self.follow(state, token) is not None

    def _append(self, state: State, text: str) -> State | None:
        """The state after `text`, a piece or a character that is none, if it stays one token."""
        if not self._joins(state.last, text[0]):
            return None
        frontier, start = self._trie.extend(state.frontier, text)
        return State(frontier, text[-1]) if start == state.frontier.position else None

    def _spell(self, state: State, character: str) -> State | None:
        """The state after a character that was spelled by its bytes."""
        if character == _SPACE_SIGN or self._trie.knows(character):
            return None
        return self._append(state, character) if self._keeps(character) else None

    def _joins(self, last: str, character: str) -> bool:
        """Whether `character` may follow `last`; no character comes before the first."""
        if last:
            return self._idle or self._keeps(last + character)
        if self._dummy_prefix:
            return character == " "
        return not (self._squeezes and character == " ")

    def _is_kept(self, text: str) -> bool:
        """Whether a few characters are read as they are inside a text."""
        return not (self._squeezes and "  " in text) and self._read_inside(text) == text

    def _read_inside(self, text: str) -> str:
        """What `text` is read as between characters that it does not join."""
        if self._normalize is None:
            return text
        return self._normalize(f"{_NEUTRAL}{text}{_NEUTRAL}")[1:-1]

    def _pieces_that_join(self, last: str) -> Bools:
        """bool[len(self._texts)]: pieces whose first character may follow `last`."""
        if last and self._idle:
            return np.ones(len(self._first), dtype=bool)
        joins = [self._joins(last, first) for first in self._firsts]
        return np.array(joins, dtype=bool)[self._first]

    def _may_begin(self, state: State | None) -> bool:
        """Whether a text may begin with the list, as the mode has it."""
        if state is None:
            return False
        if state.unfinished:
            return self._mode != "prefix" and self._may_finish(state)
        return self.finished_ok(state) or (self._mode == "viable" and self._may_go_on(state))

    def _may_finish(self, state: State) -> bool:
        """Whether some character finishes the unfinished one."""
        tried = self._worth_trying(state.unfinished)
        return any(self._spell(state, character) is not None for character in tried)

    def _completions(self, unfinished: bytes) -> tuple[str, ...]:
        """Characters that finish `unfinished`; of these so many that the others do not matter.

        Where a character is the end of no piece, the segmentation never reaches across it, and
        nothing but the normaliser keeps it from following another. One that the normaliser changes
        becomes one of the others or nothing that begins with `unfinished`.
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

    def _may_go_on(self, state: State) -> bool:
        """Whether a continuation does for a list that ends in a space where no text may end.

        What follows a space is not rewritten with it.
        """
        for text in self._continuations:
            more = text.strip(" ") if self._squeezes else text
            if more and self._stays(state.frontier, more):
                return True
        return False

    def _stays(self, frontier: Frontier, text: str) -> bool:
        """Whether the best segmentation still has a boundary at `frontier` if `text` follows."""
        starts = {}
        at, behind = frontier.position, frontier
        for character in text:
            behind, start = self._trie.extend(behind, character)
            at += 1
            starts[at] = start
        while at > frontier.position:
            at = starts[at]
        return at == frontier.position
