r"""What may be left out of the middle of a long text without changing how its end is split.

Where no boundary settles, the part of a text that may still be split anew grows: a long word,
Chinese without punctuation, a row of signs. Yet of such a run only its beginning and its end
matter: no continuation puts a boundary in between. So characters in between can be forgotten, and
a text of any length is kept as one of bounded length that is split alike.

`inside` says where. It gives each character a *label*, such that characters which stand side by
side with one label are never parted, whatever follows, and such that leaving some of them out
(but for the outermost `MARGIN`) moves no other boundary. By the expressions:

- Letters: `\p{L}+` takes all of them. (o200k: below.)
- Signs: `[^\s\p{L}\p{N}]+` takes all of them.
- Digits: `\p{N}+` takes all of them. Where digits are counted, `\p{N}{1,3}`, they get no common
  label: there boundaries settle by themselves.
- White space: boundaries can be where the run begins, before its last character and, where line
  ends count (`\s*[\r\n]+`), behind its last line end; also behind the line ends that it begins
  with, if a sign stands before them (`[\r\n]*`). The labels part these four stretches.
- o200k, signs: two signs in a row that are no marks, or one behind a space, begin a part which
  takes all signs that follow, marks too; and from the first line end behind a sign on, line ends
  and slashes in any order belong to its part (`[\r\n/]*`).
- o200k, letters: a part takes capitals and letters without case (`UPPER*`) up to the first
  lower-case letter, and from there all but capitals (`LOWER+`). While there is no lower-case
  letter, it ends behind the last letter without case (or mark), and the capitals that follow join
  when another such letter, or a lower-case one, comes. So there are three stretches: up to the
  last letter that is no capital, the capitals behind it, and what a lower-case letter begins.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import regex

from ..patterns import GPT2, O200K

MARGIN = 4
"""Characters to keep at both ends of a stretch with one label."""

_WHITE = regex.compile(r"\s+")
_DIGIT = regex.compile(r"\p{N}")
_SIGNS = regex.compile(r"(?<before>^|.)(?<run>[^\s\p{L}\p{N}]+)", regex.DOTALL)
_BEGINS_SIGNS = regex.compile(r"[^\s\p{L}\p{N}\p{M}]{2}")
_BEHIND_SIGN = regex.compile(r"(?<=[^\s\p{L}\p{N}\p{M}])[\r\n][\r\n/]*")
_LETTERS = regex.compile(r"\p{L}[\p{L}\p{M}]*")
_PIECE = regex.compile(r"(?<open>[^\p{Ll}]*)(?<closed>\p{Ll}[^\p{Lu}\p{Lt}]*)?")
_CAPITALS = regex.compile(r"[\p{Lu}\p{Lt}]*$")

# Labels that are no shapes: each is a noncharacter or a private one.
_BEFORE_LINE_END, _BLANKS, _BEHIND, _OPEN, _CLOSED, _MANY_SIGNS = map(chr, range(0xFDD0, 0xFDD6))
_COUNTED = (chr(0xFDD6), chr(0xFDD7))


def inside(pattern: str) -> Callable[[str], str]:
    """For an expression what labels the characters of a shape; see above."""
    label = _of_gpt2 if pattern == GPT2 else _of_o200k if pattern == O200K else _of_cl100k
    found: Callable[[str], str] = lru_cache(maxsize=1 << 12)(label)
    return found


def _of_gpt2(shape: str) -> str:
    labels: str = _WHITE.sub(lambda run: _BLANKS * len(run[0]), shape)
    return labels


def _of_cl100k(shape: str) -> str:
    labels = list(shape)
    for run in _WHITE.finditer(shape):
        start, end = run.span()
        head = start + len(run[0]) - len(run[0].lstrip("\r\n"))
        last = max(shape.rfind("\n", start, end), shape.rfind("\r", start, end))
        for at in range(head, end):
            labels[at] = _BEFORE_LINE_END if at < last else _BLANKS if at > last else shape[at]
    for digit in _DIGIT.finditer(shape):
        labels[digit.start()] = _COUNTED[digit.start() % 2]
    return "".join(labels)


def _of_o200k(shape: str) -> str:
    labels = list(_of_cl100k(shape))
    for run in _BEHIND_SIGN.finditer(shape):
        labels[run.start() : run.end()] = _BEHIND * len(run[0])
    for found in _SIGNS.finditer(shape):
        start, end = found.span("run")
        if found["before"] == " " and not regex.match(r"\p{M}", found["run"]):
            first = start
        else:
            # Behind a line end slashes may belong to what stands before it.
            skipped = found["before"] in ("", "\r", "\n")
            at = start + (len(found["run"]) - len(found["run"].lstrip("/")) if skipped else 0)
            begins = _BEGINS_SIGNS.search(shape, at, end)
            first = end if begins is None else begins.start()
        labels[first:end] = _MANY_SIGNS * (end - first)
    for run in _LETTERS.finditer(shape):
        for piece in _PIECE.finditer(shape, run.start(), run.end()):
            start, end = piece.span("open")
            if piece["closed"] is None:
                end -= len(_CAPITALS.search(piece["open"])[0])
            else:
                labels[slice(*piece.span("closed"))] = _CLOSED * len(piece["closed"])
            labels[start:end] = _OPEN * (end - start)
    return "".join(labels)
