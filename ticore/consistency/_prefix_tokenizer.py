"""A text that grows at its end, and its ids: only the end is encoded again.

A conversation of many turns is usually encoded as a whole after each turn, so the time grows with
the square of its length. Here a turn costs as much as its own text. It is exact, since all ids
before the last cut are settled whatever follows; see `ticore.consistency._engines.text_cuts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .._support.checks import checked_ids, require
from .._support.common_beginning import common_length
from .._support.utf8 import require_unicode
from ..interfaces import Tokenizer
from ..registry import wrap
from ._boundaries import is_boundary
from ._engines.text_cuts import TextCuts, text_cuts
from ._token_stream import TokenStream
from ._unsupported import Unsupported


class Appended(NamedTuple):
    """What an append changed.

    Attributes:
        removed: how many ids at the end of the list were taken away. A KV cache is cropped by as
            many.
        ids: the ids that stand at their place now, and those after them.
    """

    removed: int
    ids: tuple[int, ...]


class PrefixTokenizer:
    """A growing text, always with the ids of the whole: `ids` == encode(`text`).

    It may also grow by ids, such as those of a sampled turn. Special ids divide it into parts, each
    a text by itself, as in `ticore.compare`. Of other ids the text counts: if `append_ids` gives
    other ids back, then these are what the text will be read as. Use one per thread.

    Args:
        tokenizer: any tokenizer that `ticore.wrap` accepts.
        text: what it begins with.

    Attributes:
        tokenizer: as given, wrapped.
        why: why every append encodes all text since the last special id; empty if it does not.

    Raises:
        SettingsError: the text is not valid Unicode; `tokenizer` is not a tokenizer.
        ModelFilesError: a tokenizer of another library cannot be adapted exactly.

    >>> import ticore
    >>> tokenizer = ticore.load_tokenizer("tiny-en")
    >>> prefix = PrefixTokenizer(tokenizer, "The morning was c")
    >>> prefix.append("old and dark.").removed  # "c" is read with "old" now
    1
    >>> list(prefix.ids) == tokenizer.encode("The morning was cold and dark.")
    True
    """

    def __init__(self, tokenizer: Tokenizer | object, text: str = "") -> None:
        self.tokenizer = wrap(tokenizer)
        self.why = ""
        self._cuts: TextCuts | None = None
        try:
            self._cuts = text_cuts(self.tokenizer)
        except Unsupported as why:
            self.why = str(why)
        self._settled: _Settled | None = None  # the ids before the last cut
        self._written: _Written | None = None  # the text
        self._tail = ""  # what is encoded for the text after the last cut
        self._tail_ids: list[int] = []
        self._arriving: TokenStream | None = None  # ids that end inside a character
        self.append(text)

    def __len__(self) -> int:
        return _length(self._settled) + len(self._tail_ids)

    @property
    def ids(self) -> tuple[int, ...]:
        """All ids; a new tuple at each use."""
        return self._ids_from(0)

    @property
    def text(self) -> str:
        """The whole text, without the names of special ids that were appended as ids."""
        pieces, node = list[str](), self._written
        while node is not None:
            pieces.append(node.text)
            node = node.before
        return "".join(reversed(pieces))

    @property
    def held(self) -> tuple[int, ...]:
        """Ids that were appended last and end inside a character. They count when it is whole.

        If text or a special id follows instead, U+FFFD takes their place.
        """
        return () if self._arriving is None else self._arriving.held

    def append(self, text: str) -> Appended:
        """Append text.

        Args:
            text: any text. What `encode` makes of names of special tokens, it makes of them here.

        Raises:
            SettingsError: the text holds a lone surrogate. Nothing is appended then.
            WrongTypeError: `text` is not a str.
        """
        require_unicode(text)
        before, low = len(self), self._finish_character()
        if text:
            low = min(low, self._append(text))
        return Appended(before - low, self._ids_from(low))

    def append_ids(self, ids: Sequence[int]) -> Appended:
        """Append the text of some ids, and special ids as they are.

        Args:
            ids: of the tokenizer.

        Raises:
            SettingsError: the tokenizer does not have an id, or one stands for unknown text.
                Nothing is appended then.
        """
        given = checked_ids(ids, self.tokenizer.vocab_size)
        special = self.tokenizer.special_ids
        lost = [i for i in given if i in special and not is_boundary(self.tokenizer, i)]
        require(not lost, "ids", "ids with a text", lost[:1])
        before = low = len(self)
        start = 0
        for at, token in enumerate(given):
            if token in special:
                low = min(low, self._arrive(given[start:at]), self._finish_character())
                self._settle([*self._tail_ids, token])
                self._tail, self._tail_ids = "", []
                start = at + 1
        low = min(low, self._arrive(given[start:]))
        return Appended(before - low, self._ids_from(low))

    def fork(self) -> PrefixTokenizer:
        """A copy that grows by itself. Both share what is settled; it takes no time."""
        fork = PrefixTokenizer.__new__(PrefixTokenizer)
        vars(fork).update(vars(self))
        fork._tail_ids = self._tail_ids.copy()
        if self._arriving is not None:
            fork._arriving = self._arriving.copy()
        return fork

    def _arrive(self, ids: Sequence[int]) -> int:
        """Append ids without special ones, as far as they are whole characters; see `_append`."""
        if not ids:
            return len(self)
        if self._arriving is None:
            is_first = not self._tail and self._at_start_of_part()
            stream = TokenStream(self.tokenizer)
            arriving = stream if is_first else stream.continued()
        else:
            arriving = self._arriving.copy()  # the text may be refused
        text = arriving.push(ids)
        same = self._append(text) if text else len(self)
        self._arriving = arriving if arriving.held else None
        return same

    def _finish_character(self) -> int:
        """Append what the held ids stand for; see `_append`."""
        text = "" if self._arriving is None else self._arriving.copy().finish()
        same = self._append(text) if text else len(self)
        self._arriving = None
        return same

    def _at_start_of_part(self) -> bool:
        return self._settled is None or self._settled.ids[-1] in self.tokenizer.special_ids

    def _append(self, text: str) -> int:
        """Append text; gives how many ids at the beginning stay as they are."""
        tail = self._tail + text
        ids = self.tokenizer.encode(tail)  # first: it may raise
        self._written = _Written(self._written, text)
        settled = _length(self._settled)
        same = common_length(self._tail_ids, ids)
        cut = 0 if self._cuts is None else self._cuts.last(tail)
        if cut:
            assert self._cuts is not None
            rest = self._cuts.rest(tail, cut)
            after = self.tokenizer.encode(rest)
            count = len(ids) - len(after)
            if count > 0 and ids[count:] == after:  # always so; it costs little to look
                self._settle(ids[:count])
                tail, ids = rest, after
        self._tail, self._tail_ids = tail, ids
        return settled + same

    def _settle(self, ids: Sequence[int]) -> None:
        self._settled = _Settled(self._settled, tuple(ids), _length(self._settled) + len(ids))

    def _ids_from(self, low: int) -> tuple[int, ...]:
        """The ids from a position on."""
        pieces, node = [tuple(self._tail_ids)], self._settled
        while node is not None and node.length > low:
            pieces.append(node.ids)
            node = node.before
        found = [token for piece in reversed(pieces) for token in piece]
        return tuple(found[low - _length(node) :])


class _Settled(NamedTuple):
    """Some ids, after others. They never change, so forks share them.

    Attributes:
        length: of all of them together.
    """

    before: _Settled | None
    ids: tuple[int, ...]
    length: int


class _Written(NamedTuple):
    """Some text, after other text."""

    before: _Written | None
    text: str


def _length(settled: _Settled | None) -> int:
    return 0 if settled is None else settled.length
