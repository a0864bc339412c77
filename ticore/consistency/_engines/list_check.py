"""Which of many lists are consistent: each short piece of them is asked about once.

A list is cut between two tokens wherever a cut of the text is certain (see `text_cuts`), which is
nearly before every word. The ids before a cut depend on the text up to it and on the one character
after it. So a list is consistent if and only if each of its pieces is, followed by this character:

    encode(decode(piece) + character) == piece + encode(character)

An added token that is not special is a piece by itself: what stands beside it is encoded as if
the text ended there. Only where a longer added token might reach over its edge, it is not cut off.

Characters of ASCII of one class of the pretokenizer stand for one another: "one" survives before a
comma if and only if it does before a full stop.

Real text consists of few pieces, most of one or two tokens. What the tokenizer said about them is
kept in sorted arrays, in which all pieces of a batch are looked up at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain, pairwise
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..._support.caches import BoundedCache
from ...interfaces import Tokenizer, TokenizerStructure
from .._arrays import Bools
from .._boundaries import boundary_ids
from .._tokenizer_rules.normalizers import Normalization
from .._tokenizer_rules.pretokenizers import splitter_for
from .._unsupported import Unsupported
from .stable_cuts import WordCuts
from .text_cuts import text_cuts
from .tokenizer_parts import spelled_by, structure_of

Codes = npt.NDArray[np.int64]

_NONE = -1  # no character: the end of a part, or a token that begins or ends inside a character
_ASCII = 128
_TOGETHER = 16  # pieces; one that does not survive makes all of them be asked about again
_CODE_BITS = 21  # of a code point, and of the end
_MOST_IDS = 1 << 20  # two ids and a character fit into 63 bits
_MOST_KNOWN = 1 << 21  # pieces of one or two tokens that are kept
_MOST_LONG = 1 << 18  # longer pieces

# A cache entry holds its tokenizer, so no other object has the same `id()` meanwhile.
_FOUND: BoundedCache[int, tuple[Tokenizer, ListCheck | str]] = BoundedCache(4)


def list_check(tokenizer: Tokenizer) -> ListCheck:
    """The check that is exact for this tokenizer; those of the last tokenizers are cached.

    Raises:
        Unsupported: there is none.
    """

    def make() -> tuple[Tokenizer, ListCheck | str]:
        try:
            return tokenizer, ListCheck(tokenizer)
        except Unsupported as why:
            return tokenizer, str(why)

    _, found = _FOUND.get_once(id(tokenizer), make)
    if isinstance(found, str):
        raise Unsupported(found)
    return found


def list_check_at_hand(tokenizer: Tokenizer) -> ListCheck | None:
    """`list_check`, if it was made before."""
    _, found = _FOUND.peek(id(tokenizer)) or (None, None)
    return found if isinstance(found, ListCheck) else None


class ChangedPart(NamedTuple):
    """A part between two special tokens that the tokenizer reads as other ids.

    Attributes:
        number: of its list.
        start, stop: its positions in the list.
    """

    number: int
    start: int
    stop: int


class ListCheck:
    """Tells which lists are consistent, where special tokens keep parts apart (`gaps`).

    Thread-safe: threads wait for each other.

    Raises:
        Unsupported: the cuts of this tokenizer are not known.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        text_cuts(tokenizer)  # raises
        structure, spelled = structure_of(tokenizer), spelled_by(tokenizer)
        if structure.adds_leading_space:
            raise Unsupported("a space is put before texts that begin without one")
        size = len(spelled)
        if size > _MOST_IDS:
            raise Unsupported(f"it has more than {_MOST_IDS:,} ids")
        self._tokenizer, self._size = tokenizer, size
        self._spelled = spelled
        self._keeps_spaces = _keeps_spaces(tokenizer, structure, spelled)
        self._boundary = np.zeros(size, dtype=bool)
        self._boundary[sorted(boundary_ids(tokenizer))] = True
        self._lost = np.zeros(size, dtype=bool)
        self._lost[sorted(tokenizer.special_ids)] = True
        self._lost &= ~self._boundary
        self._cuts: _Words | _Pairs = (
            _Pairs(structure, spelled) if structure.pretokenizer else _Words(structure, spelled)
        )
        # Sorted keys of pieces of one token and of two: those that survive, and those that do not.
        self._known = [[_no_keys(), _no_keys()] for _ in range(2)]
        self._long: dict[tuple[int, bytes], bool] = {}
        self._lock = Lock()  # held while a batch is looked up

    def consistent(self, lists: Sequence[npt.NDArray[np.int64]]) -> Bools:
        """Whether each of n lists of ids of the tokenizer is consistent: bool[n]."""
        answers = np.ones(len(lists), dtype=bool)
        answers[[part.number for part in self.changed_parts(lists)]] = False
        return answers

    def changed_parts(self, lists: Sequence[npt.NDArray[np.int64]]) -> list[ChangedPart]:
        """The parts of n lists of ids of the tokenizer that do not survive, in order."""
        with self._lock:
            return self._changed_parts(lists)

    def decode(self, ids: Sequence[int]) -> str:
        """`decode` of the tokenizer, faster where the bytes of the tokens are a text by themselves.

        Only a space at its beginning may be left out then (`TokenizerContract` tests it).
        """
        data = b"".join(map(self._spelled.__getitem__, ids))
        if self._keeps_spaces or not data.startswith(b" "):
            with suppress(UnicodeDecodeError):
                return data.decode()
        return self._tokenizer.decode(ids)

    def _changed_parts(self, lists: Sequence[npt.NDArray[np.int64]]) -> list[ChangedPart]:
        lengths = np.array(list(map(len, lists)), dtype=np.int64)
        if not lengths.sum():
            return []
        ids = np.concatenate(lists)
        row = np.repeat(np.arange(len(lists)), lengths)
        boundary = self._boundary[ids]
        new_part = np.ones(len(ids), dtype=bool)
        new_part[1:] = boundary[1:] | boundary[:-1] | (row[1:] != row[:-1])
        cut = new_part.copy()
        cut[1:] |= self._cuts.between(ids[:-1], ids[1:])
        starts = np.flatnonzero(cut)
        ends = np.append(starts[1:], len(ids))
        # The character after each piece, in the same part.
        after = np.full(len(starts), _NONE, dtype=np.int64)
        inside = ~new_part[starts[1:]]
        here = starts[1:][inside]
        after[:-1][inside] = self._cuts.after(ids[here - 1], ids[here])
        asked = ~boundary[starts] & ~self._lost[ids[starts]]
        starts, sizes, after = starts[asked], (ends - starts)[asked], after[asked]
        changed = [np.flatnonzero(self._lost[ids])]
        for length in (1, 2):
            which = np.flatnonzero(sizes == length)
            good = self._short(ids, starts[which], after[which], length)
            changed.append(starts[which[~good]])
        which = np.flatnonzero(sizes > 2)
        good = self._longer(ids, starts[which], sizes[which], after[which])
        changed.append(starts[which[~good]])
        first = np.flatnonzero(new_part)
        parts = np.unique(np.searchsorted(first, np.concatenate(changed), side="right")) - 1
        numbers = row[first[parts]]
        before = (np.cumsum(lengths) - lengths)[numbers]  # ids of the lists before
        starts, stops = first[parts] - before, np.append(first, len(ids))[parts + 1] - before
        return [*map(ChangedPart, numbers.tolist(), starts.tolist(), stops.tolist())]

    def _short(self, ids: Codes, starts: Codes, after: Codes, length: int) -> Bools:
        """Whether each piece of one token or of two survives."""
        keys = ids[starts]
        if length == 2:
            keys = keys * self._size + ids[starts + 1]
        keys = keys << _CODE_BITS | after + 1
        known = self._known[length - 1]
        good = _are_in(keys, known[True])
        unsure = np.flatnonzero(~good)
        unsure = unsure[~_are_in(keys[unsure], known[False])]
        if len(unsure):
            new, first = np.unique(keys[unsure], return_index=True)
            places = unsure[first]
            pieces = [ids[start : start + length].tolist() for start in starts[places].tolist()]
            found = self._asked(pieces, after[places].tolist())
            if len(known[True]) + len(known[False]) > _MOST_KNOWN:
                known[:] = [_no_keys(), _no_keys()]
            known[True] = np.union1d(known[True], new[found])
            known[False] = np.union1d(known[False], new[~found])
            good[unsure] = _are_in(keys[unsure], new[found])
        return good

    def _longer(self, ids: Codes, starts: Codes, sizes: Codes, after: Codes) -> Bools:
        """Whether each piece of three tokens or more survives."""
        pieces = [ids[a : a + n] for a, n in zip(starts.tolist(), sizes.tolist(), strict=True)]
        keys = [(c, piece.tobytes()) for c, piece in zip(after.tolist(), pieces, strict=True)]
        if len(self._long) > _MOST_LONG:
            self._long.clear()
        known = self._long
        new = {key: n for n, key in enumerate(keys) if key not in known}
        found = self._asked([pieces[n].tolist() for n in new.values()], [c for c, _ in new])
        known.update(zip(new, found.tolist(), strict=True))
        return np.array([known[key] for key in keys], dtype=bool)

    def _asked(self, pieces: Sequence[list[int]], after: Sequence[int]) -> Bools:
        """What the tokenizer says about some pieces, each before a character.

        It reads short texts slowly, so a few pieces are asked about together, one after the other.
        Between two of them stands a cut, so they come back together if and only if each does. If
        they do not, each is asked about by itself.
        """
        found = np.zeros(len(pieces), dtype=bool)
        more = ["" if code == _NONE else chr(code) for code in after]
        alone = {c: self._tokenizer.encode(c) for c in {*more} - {""}} | {"": []}
        rows = self._rows(pieces, after, alone) if len(pieces) > 1 else []
        together = [
            [*chain(*(pieces[n] + row.between for n in row.places[:-1])), *pieces[row.places[-1]]]
            for row in rows
        ]
        survive = self._read_back(together, [more[row.places[0]] for row in rows], alone)
        for row, survives in zip(rows, survive, strict=True):
            found[row.places] = survives
        left = np.flatnonzero(~found).tolist()
        found[left] = self._read_back([pieces[n] for n in left], [more[n] for n in left], alone)
        return found

    def _read_back(
        self, pieces: Sequence[list[int]], more: Sequence[str], alone: Mapping[str, list[int]]
    ) -> list[bool]:
        """Whether the text of each piece, followed by a character, is read as the two."""
        texts = [self.decode(piece) + c for piece, c in zip(pieces, more, strict=True)]
        again = self._tokenizer.encode_batch(texts) if texts else []
        return [
            read == [*piece, *alone[c]] for read, piece, c in zip(again, pieces, more, strict=True)
        ]

    def _rows(
        self, pieces: Sequence[list[int]], after: Sequence[int], alone: Mapping[str, list[int]]
    ) -> list[_Row]:
        """Pieces that may stand one after the other, at most `_TOGETHER` in a row.

        A piece that begins with the character after the one before it follows at once. Else a token
        for this character comes between them.
        """
        first = np.array([piece[0] for piece in pieces], dtype=np.int64)
        last = np.array([piece[-1] for piece in pieces], dtype=np.int64)
        codes, heads = np.array(after, dtype=np.int64), self._cuts.heads(first)
        order = np.lexsort((heads, codes))
        first, last, codes, heads = first[order], last[order], codes[order], heads[order]
        single = {ord(c): ids[0] for c, ids in alone.items() if len(ids) == 1}
        between = np.array([single.get(code, _NONE) for code in codes.tolist()], dtype=np.int64)
        between[codes == heads] = _NONE
        # Of each piece but the last, whether the next one may stand after it.
        is_direct = (codes == heads)[:-1]
        follows = (codes[1:] == codes[:-1]) & (heads[1:] == heads[:-1])
        follows &= is_direct | (between[:-1] != _NONE)
        here = np.where(is_direct, first[1:], between[:-1])
        follows &= self._are_cut(last[:-1], here, codes[:-1])
        follows &= is_direct | self._are_cut(here, first[1:], heads[1:])
        rows, start = list[_Row](), 0
        for stop in [*(np.flatnonzero(~follows) + 1).tolist(), len(order)]:
            ids = [] if between[start] == _NONE else [int(between[start])]
            rows += [
                _Row(order[n : min(n + _TOGETHER, stop)].tolist(), ids)
                for n in range(start, stop, _TOGETHER)
                if stop - n > 1
            ]
            start = stop
        return rows

    def _are_cut(self, before: Codes, here: Codes, after: Codes) -> Bools:
        """Whether there is a cut between two tokens each, and the character after it is `after`."""
        return np.asarray(
            self._cuts.between(before, here) & (self._cuts.after(before, here) == after)
        )


class _Row(NamedTuple):
    """Pieces that are asked about together.

    Attributes:
        places: of the pieces.
        between: the ids between each two of them, none or one.
    """

    places: list[int]
    between: list[int]


class _Words:
    """Cuts before spaces; see `WordCuts`. They settle both sides."""

    def __init__(self, structure: TokenizerStructure, spelled: Sequence[bytes]) -> None:
        words = WordCuts(spelled, structure.added_tokens)
        self._begins = np.frombuffer(words.begins, dtype=bool)
        self._ends = np.frombuffer(words.ends, dtype=bool)

    def between(self, before: Codes, here: Codes) -> Bools:
        return np.asarray(self._begins[here] & self._ends[before])

    def after(self, before: Codes, here: Codes) -> Any:
        return _NONE

    def heads(self, tokens: Codes) -> Codes:
        """What `after` gives where no edge of an added token stands before each token."""
        return np.full(len(tokens), _NONE, dtype=np.int64)


class _Pairs:
    """Cuts between two characters that the pretokenizer always parts.

    And at both edges of an added token. But not between two characters that stand side by side in
    an added token: its text may reach over the cut.
    """

    def __init__(self, structure: TokenizerStructure, spelled: Sequence[bytes]) -> None:
        first, last = zip(*map(_edges, spelled), strict=True)
        self._first = np.array(first, dtype=np.int64)
        self._last = np.array(last, dtype=np.int64)
        splitter, normalization = splitter_for(structure.pretokenizer), Normalization(structure)
        classes = splitter.classes
        number = {member: n for n, member in enumerate(classes.members_with_letters)}
        self._none = len(number)
        codes = sorted({*first, *last} - {_NONE})
        kind = {c: number.get(classes.with_letters(chr(c)), self._none) for c in codes}
        joins = {c for c in codes if normalization.joins(chr(c))}
        # No text before a character of ASCII depends on more than its class: it composes with none.
        of_class = {kind[c]: c for c in reversed(codes) if 0 <= c < _ASCII and c not in joins}
        head = {c: of_class.get(kind[c], c) if 0 <= c < _ASCII else c for c in {*first}}
        self._head = np.array([head[c] for c in first], dtype=np.int64)
        kind[_NONE] = self._none
        self._last_kind = np.array([kind[c] for c in last], dtype=np.int64)
        self._first_kind = np.array(
            [self._none if c in joins else kind[c] for c in first], dtype=np.int64
        )
        self._is_added = np.zeros(len(spelled), dtype=bool)
        self._is_added[sorted(structure.added_tokens.values())] = True
        self._parted = np.zeros((self._none + 1, self._none + 1), dtype=bool)
        for pair in splitter.parted:
            self._parted[number[pair[0]], number[pair[1]]] = True
        beside = {pair for text in structure.added_tokens for pair in pairwise(map(ord, text))}
        self._beside = np.array(
            sorted(before << _CODE_BITS | after for before, after in beside), dtype=np.int64
        )

    def between(self, before: Codes, here: Codes) -> Bools:
        found = self._parted[self._last_kind[before], self._first_kind[here]]
        found |= self._is_added[before] | self._is_added[here]
        some = np.flatnonzero(found)
        if len(self._beside):
            pairs = self._last[before[some]] << _CODE_BITS | self._first[here[some]]
            found[some[_are_in(pairs, self._beside)]] = False
        return np.asarray(found)

    def after(self, before: Codes, here: Codes) -> Codes:
        is_edge = self._is_added[before] | self._is_added[here]
        return np.where(is_edge, _NONE, self._head[here])

    def heads(self, tokens: Codes) -> Codes:
        """What `after` gives where no edge of an added token stands before each token."""
        return self._head[tokens]


def _keeps_spaces(
    tokenizer: Tokenizer, structure: TokenizerStructure, spelled: Sequence[bytes]
) -> bool:
    """Whether `decode` writes the space with which a piece begins a text.

    An added token or a byte may keep one that pieces lose, so these tell nothing.
    """
    pieces = np.flatnonzero(structure.pieces).tolist()
    first = (i for i in pieces if spelled[i][:1] == b" " and spelled[i].isascii())
    token = next(first, None)
    return token is not None and tokenizer.decode([token]).encode() == spelled[token]


def _edges(data: bytes) -> tuple[int, int]:
    """The first and the last character of a token; _NONE where it begins or ends inside one."""
    text = data.decode(errors="replace")
    if not text:
        return _NONE, _NONE
    first, last = text[0], text[-1]
    # U+FFFD may stand for bytes that are no character, so no cut is made beside it.
    return _NONE if first == "\ufffd" else ord(first), _NONE if last == "\ufffd" else ord(last)


def _are_in(keys: Codes, known: Codes) -> Bools:
    """Whether each key is among the sorted `known`."""
    if not len(known):
        return np.zeros(len(keys), dtype=bool)
    at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.asarray(known[at] == keys)


def _no_keys() -> Codes:
    return np.array([], dtype=np.int64)
