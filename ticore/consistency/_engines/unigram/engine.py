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

A mask is a row that many states share, and the few answers that differ after this text:
`UnigramEngine.changes` gives both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

import numpy as np

from ...._support.caches import BoundedCache, cached_method
from ...._support.packed_bits import Words, clear_bits, pack, set_bit, set_bits
from ...._support.utf8 import unfinished_suffix
from ....interfaces import TokenizerStructure
from ..._arrays import Bools, Ids
from ..._modes import CONTINUATIONS, Mode
from ..._tokenizer_rules.character_splits import splits_between
from ..base import Recovery
from .byte_fallback import ByteFallback
from .joining_pieces import JoiningPieces
from .piece_tables import Arrays, build_piece_tables
from .reading import Reading
from .requirements import require_known
from .rows import Rows
from .segmentations import Segmentations
from .state import Place, UnigramState
from .trie import Longs, Trie
from .viterbi import RESET, RESET_BEYOND, Viterbi, ViterbiState

# Libraries score a character that is not a piece this far below the least probable piece.
_UNKNOWN_PENALTY = 10.0
# From this number on, candidates are faster answered by a mask than one by one.
_MANY = 64
_CACHED_TRIES = 1 << 12
_BYTES_FOR_ENDINGS = 16 << 20
# Where more pieces may be beaten, they are told apart by their own roundings.
_MANY_UNSURE = 16
# There are about ten rows; each engine keeps all.
_CACHED_ROWS = 16


# The place of a state, its last character, and for each piece that has begun its node and from
# where on it beats others.
_Ending = tuple[Place, str, tuple[tuple[int, int], ...]]


class UnigramEngine:
    """An engine for unigram tokenizers, such as SentencePiece's. Thread-safe.

    The state None stands for all lists that no text begins with, whatever follows.

    Args:
        structure: of the tokenizer.
        spelled: the bytes of each id.
        special_ids: ids that no list may hold, not even where `encode` gives one for an unknown
            character.
        mode: see `ticore.consistency._modes`.
        tables: as `tables` of an equal one gives them; None to build them.

    Raises:
        Unsupported: the answers would not be exact for the structure.
        Exception: of any kind, if `tables` do not fit.
    """

    def __init__(
        self,
        structure: TokenizerStructure,
        spelled: Sequence[bytes],
        special_ids: frozenset[int],
        mode: Mode,
        tables: Arrays | None = None,
    ) -> None:
        require_known(structure, special_ids, mode)
        assert structure.scores is not None  # as it has just been found
        self._mode = mode
        self._size = len(spelled)
        self._spelled = spelled
        self._reading = Reading(structure)
        # The rows of `changes`, each with itself as packed bits, by its `id()`.
        self._packed: BoundedCache[int, tuple[Bools, Words]] = BoundedCache(_CACHED_ROWS)
        # What is found by trying some ids after a state, which takes long.
        self._tried: BoundedCache[tuple[UnigramState, tuple[int, ...]], tuple[Longs, Bools]] = (
            BoundedCache(_CACHED_TRIES)
        )
        # What follows texts that end alike, as packed bits.
        self._endings: BoundedCache[_Ending, Words] = BoundedCache(
            max(64, _BYTES_FOR_ENDINGS * 8 // max(1, self._size))
        )

        least = float(structure.scores[structure.pieces].min())
        unknown = structure.unknown_score
        if unknown is None:
            # In the type of the scores, as in the libraries.
            unknown = float(structure.scores.dtype.type(least - _UNKNOWN_PENALTY))
        made = tables
        if made is None:
            made = build_piece_tables(structure, spelled, special_ids, self._reading)
        trie = Trie(
            np.asarray(made["parents"], dtype=np.int32),
            np.asarray(made["codes"], dtype=np.int32),
            np.asarray(made["scores"], dtype=np.float64),
        )
        self._ids: Longs = np.asarray(made["ids"], dtype=np.int64)
        nodes = np.asarray(made["nodes"], dtype=np.int32)
        if len(self._ids) != len(nodes):
            raise ValueError("the tables do not fit together")
        self._segmentations = Segmentations(trie, unknown, made if "leads" in made else None)
        self._tables = {**made, **self._segmentations.tables()}
        splits = structure.pretokenizer
        are_apart = splits_between(splits) if splits else None
        self._viterbi = Viterbi(trie, unknown, structure.score_sums, are_apart)
        self._candidates = self._segmentations.candidates(self._ids, nodes)
        self._far_at_least = abs(unknown) + self._segmentations.reach
        self._is_text = np.zeros(self._size, dtype=bool)
        self._is_text[self._ids] = True
        is_end = trie.scores > -inf
        if structure.dummy_suffix:  # which completes some of these pieces
            is_end[trie.parents[is_end & (trie.codes == ord(" "))]] = True
        ended_with = frozenset(map(chr, np.unique(trie.codes[is_end]).tolist()))
        self._bytes = ByteFallback(structure, self._reading, self._viterbi, mode, ended_with)

        firsts = trie.codes.copy()
        for begin, end in trie.levels[1:]:
            firsts[begin:end] = firsts[trie.parents[begin:end]]
        self._rows = Rows(
            self._size,
            self._ids,
            firsts[nodes],
            trie.codes[nodes],
            alone=self._candidates.alone,
            reading=self._reading,
            fallback=self._bytes,
            mode=mode,
        )
        self._joining = JoiningPieces(self._ids, firsts[nodes], spelled, self._reading)
        # Whether a text that ends in one of these goes on with a character that no piece holds.
        inside_pieces = frozenset(map(chr, np.unique(trie.codes).tolist()))
        self._goes_on = mode == "viable" and any(
            text not in inside_pieces and self._reading.keeps(text) for text in CONTINUATIONS
        )
        # Whether each piece that no text ends in is tried.
        self._tries_many = mode == "viable" and not self._goes_on and len(self._rows.not_last) > 0

    def tables(self) -> Arrays:
        """What took long to compute."""
        return self._tables

    def start(self) -> UnigramState | None:
        """The state of the empty list."""
        return UnigramState()

    def step(self, state: UnigramState | None, token: int) -> UnigramState | None:
        """The state of the list followed by `token`, any id."""
        if state is None:
            return None
        if self._is_text[token]:
            return None if state.unfinished else self._append(state, self._spelled[token].decode())
        if token not in self._bytes.bytes or (self._reading.dummy_prefix and not state.last):
            return None
        data = state.unfinished + self._bytes.bytes[token]
        if unfinished_suffix(data) == data:
            return state._replace(unfinished=data)
        try:
            character = data.decode()
        except UnicodeDecodeError:
            return None
        return self._spell(state, character)

    def admits(self, state: UnigramState | None, candidates: Ids) -> Bools:
        """For each candidate, whether a text may begin with the list followed by it: bool[n]."""
        if len(candidates) > _MANY:
            return self.mask(state)[candidates]
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
        row, ids, answers = self.changes(state)
        mask = row.copy()
        mask[ids] = answers
        return mask

    def changes(self, state: UnigramState | None) -> tuple[Bools, Longs, Bools]:
        """The mask of a state as a row that many states share, and what differs from it.

        Returns:
            The row, which the caller must not change: bool[vocab_size]. Then ids, int64[n], and
            their answers, bool[n], which count instead of those of the row. An id may come several
            times, with the same answer.
        """
        if state is None or state.unfinished:
            one_by_one = [] if state is None else self._bytes.sometimes_open(state.unfinished)
            return self._rows.none(), *self._answered(state, one_by_one)
        place = self._place(state)
        if place in (Place.START, Place.AFTER_PREFIX):  # at each there is one state
            return self._first_row(place, state), self._ids[:0], np.zeros(0, dtype=bool)
        return self._rows.of(place), *self._changes(state)

    def packed_mask(self, state: UnigramState | None, out: Words) -> None:
        if state is None or not self._write_by_ending(state, out):
            self._write_changes(state, out)

    def _write_by_ending(self, state: UnigramState, out: Words) -> bool:
        """Write `packed_mask` of a state with what all texts share that end alike, if there is it.

        The row of an ending has the pieces that no segmentation beats, and nothing about those of
        which that is unsure: they are tried.
        """
        place = self._place(state)
        if state.unfinished or place in (Place.START, Place.AFTER_PREFIX) or self._tries_many:
            return False
        far, sums = self._sums(state)
        ends, unsure = list[tuple[int, int]](), self._candidates.unsure_alone(far).tolist()
        for node, ahead in sums:
            begin, end = self._candidates.window(node, ahead, far)
            if end - begin > _MANY_UNSURE:
                return False
            if begin < end:
                unsure += self._candidates.beaten_from(node, begin, end).tolist()
            ends.append((node, end))
        ending = (place, state.last, tuple(ends))
        out[:] = self._endings.get(ending, lambda: self._pack_ending(ending))
        tried = [*dict.fromkeys(unsure), *self._bytes.sometimes_open(b"")]
        ids, answers = self._tried.get((state, tuple(tried)), lambda: self._answered(state, tried))
        for token, answer in zip(ids.tolist(), answers.tolist(), strict=True):
            set_bit(out, token, answer)
        return True

    def _pack_ending(self, ending: _Ending) -> Words:
        place, last, ends = ending
        words = self._rows.packed(place).copy()
        clear_bits(words, self._joining.after(last))
        for node, end in ends:
            clear_bits(words, self._candidates.beaten_from(node, end))
        return words

    def _write_changes(self, state: UnigramState | None, out: Words) -> None:
        row, ids, answers = self.changes(state)
        kept, packed = self._packed.get(id(row), lambda: (row, pack(row)))
        # Another row may have had this `id()` before its entry was dropped.
        out[:] = packed if kept is row else pack(row)
        clear_bits(out, ids[~answers])
        set_bits(out, ids[answers])

    def never_recovers(self, state: UnigramState | None, token: int) -> bool:
        """Whether it is known that no consistent list begins with this one and `token`."""
        return self.step(state, token) is None

    def is_consistent(self, state: UnigramState | None) -> bool:
        """Whether the text may end here: encode(decode(list)) == list."""
        if state is None or state.unfinished:
            return False
        # A dummy prefix alone is not a text, and spaces at the end may be dropped.
        prefix_alone = self._place(state) is Place.AFTER_PREFIX
        return not prefix_alone and (not state.last or self._reading.may_end(state.last))

    def _place(self, state: UnigramState) -> Place:
        if not state.last:
            return Place.START
        if state.last != " ":
            return Place.INSIDE
        if self._reading.dummy_prefix and state.best.position == 1:
            return Place.AFTER_PREFIX
        return Place.AFTER_SPACE

    @cached_method(4)
    def _first_row(self, place: Place, state: UnigramState) -> Bools:
        """The mask of the only state at a place."""
        row = self._rows.first(place, self._spelled)
        for ids, answers in (self._changes(state), self._answered(state, self._rows.asked_first())):
            row[ids] = answers
        return row

    def _changes(self, state: UnigramState) -> tuple[Longs, Bools]:
        """Ids and answers that differ from those of the row for the state's place, or may."""
        far, sums = self._sums(state)
        refused: list[Ids] = [self._joining.after(state.last)]
        unsure: list[Ids] = [self._candidates.unsure_alone(far)]
        if self._tries_many:
            unsure.append(self._rows.not_last)
        for node, ahead in sums:
            beaten, maybe = self._candidates.beaten(node, ahead, far)
            refused.append(beaten)
            unsure.append(maybe)
        asked = list(dict.fromkeys(np.concatenate(unsure).tolist()))
        asked += self._bytes.sometimes_open(b"")
        no = np.concatenate(refused)
        ids, answers = self._tried.get((state, tuple(asked)), lambda: self._answered(state, asked))
        return np.concatenate([no, ids]), np.concatenate([np.zeros(len(no), dtype=bool), answers])

    def _sums(self, state: UnigramState) -> tuple[float, list[tuple[int, float]]]:
        """How far from zero sums may be; and for each piece that has begun, its node and lead.

        The lead is how far the best sum now is above the best sum before the piece.
        """
        best, sums = state.best.best_score, list[tuple[int, float]]()
        for _, node, score in state.best.open_pieces:
            if node == RESET:
                sums = [(node, sofar - score) for node, sofar in sums]
            else:
                sums.append((node, score))
        far = self._far_at_least + max(abs(best), *(abs(score) for _, score in sums), 0.0)
        if far > RESET_BEYOND:
            far += RESET_BEYOND
        return far, [(node, best - score) for node, score in sums]

    def _answered(self, state: UnigramState | None, asked: Sequence[int]) -> tuple[Longs, Bools]:
        """Some ids in any order, and the answers."""
        pieces = [(self._spelled[i].decode(), i) for i in asked if self._is_text[i]]
        ids, answers = [i for i in asked if not self._is_text[i]], list[bool]()
        answers += [self._admits_one(state, token) for token in ids]
        if state is not None and not state.unfinished:
            pieces.sort()
            ids += [i for _, i in pieces]
            answers += self._admits_texts(state, [text for text, _ in pieces])
        return np.array(ids, dtype=np.int64), np.array(answers, dtype=bool)

    def _admits_texts(self, state: UnigramState, texts: Sequence[str]) -> Iterator[bool]:
        """The answers about pieces in the order of their texts; what they share is read once."""
        read: list[tuple[str, ViterbiState]] = [("", state.best)]
        for text in texts:
            if not self._follows(state, text):
                yield False
                continue
            while not text.startswith(read[-1][0]):
                read.pop()
            known, best = read[-1]
            longer, start = self._viterbi.extend(best, text[len(known) :])
            if start >= 0:
                read.append((text, longer))
            whole = start == state.best.position
            after = UnigramState(longer, self._reading.context(state.last, text))
            yield whole and self._may_begin(after)

    def _admits_one(self, state: UnigramState | None, token: int) -> bool:
        return self.step_if_admitted(state, token) is not None

    def _append(self, state: UnigramState, text: str) -> UnigramState | None:
        """The state after `text`, if the best segmentation ends in it.

        Args:
            text: a piece, or a character that is not a piece.
        """
        if not self._follows(state, text):
            return None
        best, start = self._viterbi.extend(state.best, text)
        if start != state.best.position:
            return None
        return UnigramState(best, self._reading.context(state.last, text))

    def _follows(self, state: UnigramState, text: str) -> bool:
        """Whether a piece may follow, as far as its first characters and the last one go."""
        place = self._place(state)
        if place is Place.START:
            return self._reading.may_begin_with(text)
        if place is Place.AFTER_PREFIX and not self._reading.may_start(text[0]):
            return False
        return self._reading.may_go_on(state.last, text)

    def _spell(self, state: UnigramState, character: str) -> UnigramState | None:
        """The state after a character that was spelled by its bytes."""
        return self._append(state, character) if self._bytes.spells(character) else None

    def _may_begin(self, state: UnigramState | None) -> bool:
        """Whether a text may begin with the list; the mode defines that."""
        if state is None:
            return False
        if state.unfinished:
            return self._mode != "prefix" and self._may_finish(state)
        return self.is_consistent(state) or (self._mode == "viable" and self._may_go_on(state))

    def _may_finish(self, state: UnigramState) -> bool:
        """Whether some character completes the unfinished one."""
        tried = self._bytes.completions(state.unfinished)
        found = (self._spell(state, character) for character in tried)
        # A suffix may join the character. Before it no other piece may begin.
        suffix = " " if self._reading.dummy_suffix else ""
        return any(
            after is not None and self._boundary_stays(after.best, suffix) for after in found
        )

    def _may_go_on(self, state: UnigramState) -> bool:
        """Whether a list that ends where no text may end has a continuation.

        No normalizer here changes a continuation together with a character before it.
        """
        if not self._reading.keeps(state.last):  # but for the last cluster
            return False
        after_prefix = self._place(state) is Place.AFTER_PREFIX
        for text in CONTINUATIONS:
            more = self._reading.at_end(state.last, text)
            if not more or (after_prefix and not self._reading.may_start(more[0])):
                continue
            if self._boundary_stays(state.best, more):
                return True
        return False

    def _boundary_stays(self, best: ViterbiState, text: str) -> bool:
        """Whether the best segmentation still has a boundary at `best` if `text` follows."""
        starts = {}
        at, longer = best.position, best
        for character in text:
            longer, start = self._viterbi.extend(longer, character)
            if start < 0:
                return False
            at += 1
            starts[at] = start
        while at > best.position:
            at = starts[at]
        return at == best.position
