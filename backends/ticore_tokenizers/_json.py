"""A tokenizer.json in little memory: its vocabulary and its merges are parsed in parts.

The library keeps several copies of each merge while it reads it. It needs less than half of the
memory where a merge is one string, "a b", than where it is a list, ["a", "b"], as newer files have.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_S = rb"[ \t\r\n]*+"
# A quote after one of these characters may begin a string. After any other it ends one.
_QUOTE = rb'[^\[{,\\ \t\r\n]"' + _S
# The library skips a merge that begins so, if merges are strings.
_COMMENT = "#version"
_PART, _ITEM = 1 << 18, 1 << 8  # bytes


@dataclass(frozen=True)
class Merges:
    """Merges that are pairs of strings, parsed again each time.

    Attributes:
        data: a tokenizer.json.
        spans: (start, end) of several merges each, with the commas between them.
    """

    data: bytes
    spans: list[tuple[int, int]]

    def __iter__(self) -> Iterator[list[str]]:
        for pairs in self.in_parts():
            yield from pairs

    def __len__(self) -> int:
        return sum(map(len, self.in_parts()))

    def in_parts(self) -> Iterator[list[list[str]]]:
        """Lists of some thousands of them.

        Raises:
            ValueError: these are no pairs of strings.
        """
        for start, end in self.spans:
            yield json.loads(b"[%b]" % self.data[start:end])


def read(data: bytes) -> tuple[Any, bytes]:
    """A tokenizer.json, and the same in a form that takes the library less memory.

    Returns:
        As `parse` gives it; and `data` with each merge as one string, "a b", where that is the
        same to the library.

    Raises:
        UnicodeDecodeError, ValueError, RecursionError: as `parse`.

    >>> state, short = read(b'{"model": {"vocab": {"a": 0}, "merges": [["a", "b"], ["ab", "c"]]}}')
    >>> short
    b'{"model": {"vocab": {"a": 0}, "merges": ["a b","ab c"]}}'
    """
    state = parse(data)
    model = state.get("model") if isinstance(state, dict) else None
    merges = model.get("merges") if isinstance(model, dict) else None
    if not isinstance(merges, Merges):
        return state, data
    try:
        return state, _with_short(data, merges)
    except (ValueError, TypeError):
        return json.loads(str(data, "utf-8")), data


def parse(data: bytes) -> Any:
    """A tokenizer.json. `state["model"]["merges"]` is `Merges` where it is a list of pairs.

    Raises:
        UnicodeDecodeError: it is not UTF-8.
        ValueError, RecursionError: it is not JSON.
    """
    _require_utf8(data)
    tokens, merges = _spans(data, _TOKENS), _spans(data, _MERGES)
    if tokens and merges:
        try:
            state = json.loads(_without(data, tokens, merges))
            model = state["model"]
            if (model["vocab"], model["merges"]) == ({}, []):
                for start, end in tokens:
                    model["vocab"].update(json.loads(b"{%b}" % data[start:end]))
                model["merges"] = Merges(data, merges)
                return state
        except (ValueError, RecursionError, KeyError, TypeError):
            pass  # The error for the whole file names the right place.
    return json.loads(str(data, "utf-8"))


def _with_short(data: bytes, merges: Merges) -> bytes:
    """Raises ValueError or TypeError where they are no pairs of strings."""
    written = []
    for pairs in merges.in_parts():
        texts = [" ".join(pair) for pair in pairs]
        if any(text.count(" ") != 1 or text.startswith(_COMMENT) for text in texts):
            return data
        written.append(json.dumps(texts, ensure_ascii=False, separators=(",", ":"))[1:-1].encode())
    (start, _), (_, end) = merges.spans[0], merges.spans[-1]
    return b"".join([data[:start], b",".join(written), data[end:]])


@dataclass(frozen=True)
class _Items:
    """The items of a list or an object.

    Attributes:
        opening: its name and the opening bracket.
        quote: ends with the last quote in an item, and what may follow it there.
        more: the end of an item, then a comma. The item includes group 1.
        last: the end of an item, then the closing bracket.
    """

    opening: re.Pattern[bytes]
    quote: re.Pattern[bytes]
    more: re.Pattern[bytes]
    last: re.Pattern[bytes]

    def end(self, data: bytes, start: int, pattern: re.Pattern[bytes]) -> int:
        """Where the first item that `pattern` finds after `start` ends; -1 if there is none."""
        for match in pattern.finditer(data, start):
            if self.quote.search(data, max(start, match.start() - _ITEM), match.start()):
                return match.end(1)
        return -1


_TOKENS = _Items(
    re.compile(rb'"vocab"' + _S + rb":" + _S + rb"\{"),
    re.compile(_QUOTE + rb":" + _S + rb"[0-9]+" + _S + rb"\Z"),
    re.compile(rb"(),"),
    re.compile(rb"()\}"),
)
_MERGES = _Items(
    re.compile(rb'"merges"' + _S + rb":" + _S + rb"\["),
    re.compile(_QUOTE + rb"\Z"),
    re.compile(rb"(\]" + _S + rb"),"),
    re.compile(rb"(\]" + _S + rb")\]"),
)


def _spans(data: bytes, items: _Items) -> list[tuple[int, int]]:
    """Where the items of the only list or object of a name are, about `_PART` bytes in each span.

    The code that parses the spans finds out whether these are items.

    Returns:
        (start, end) of each span; empty if there are several of this name, or no such items.
    """
    # A quote within a string has a backslash before it, so what is found is a name.
    found = [m.end() for m in items.opening.finditer(data) if data[m.start() - 1] != ord("\\")]
    last = items.end(data, found[0], items.last) if len(found) == 1 else -1
    if last < 0:
        return []
    spans, start = [], found[0]
    while last - start > _PART:
        cut = items.end(data, start + _PART, items.more)
        if not 0 <= cut < last:
            break
        spans.append((start, cut))
        start = data.index(b",", cut) + 1
    return [*spans, (start, last)]


def _without(data: bytes, *removed: list[tuple[int, int]]) -> str:
    kept, at = [], 0
    for spans in sorted(removed):
        kept.append(data[at : spans[0][0]])
        at = spans[-1][1]
    return str(b"".join([*kept, data[at:]]), "utf-8")


def _require_utf8(data: bytes) -> None:
    """Raise UnicodeDecodeError if it is not, without a copy of the whole."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(data), _PART):
        decoder.decode(data[start : start + _PART], final=start + _PART >= len(data))
