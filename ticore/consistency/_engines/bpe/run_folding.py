r"""What can be left out of a long run without changing how the end of its text is split.

In some texts no boundary settles for long: a long word, Chinese without punctuation, a row of
signs. The tail then grows with every token. But only the two ends of such a run matter: no
continuation puts a boundary in between. So the characters in between can be left out, and a text
of any length is kept as one of bounded length that is split alike:

    aaaaaaaaaaaaaaaaaaaaaaaa + "b"     one part
    aaaaaaaa                 + "b"     one part

`labels_for` says where. It gives each character a *label*. Take a row of neighbours with the same
label, without the outermost `MARGIN` characters at each end. It has two properties: no boundary
stands in it, whatever follows; and leaving some of it out moves no other boundary. The labels by
the expressions' branches, each with an example (`|` parts different labels, ␣ is a space and ⏎ a
line end):

1. Letters, `\p{L}+`: one label. (For o200k see 7.)                       aaaa
2. Signs, `[^\s\p{L}\p{N}]+`: one label. (For o200k see 6.)               !!!!
3. Digits, `\p{N}+`: one label.                                           1111
   Where digits are counted, `\p{N}{1,3}`, boundaries between them settle by themselves. Such
   digits are never left out: their labels alternate.                     1|1|1|1
4. White space, `\s+(?!\S)|\s+`: a boundary can be where the run begins and before its last
   character. One label.                                                  ␣␣⏎␣
5. White space where line ends count, `\s*[\r\n]+`: a boundary can also be after the run's last line
   end. And after a sign, `[\r\n]*` takes the line ends that the run begins with. So there are four
   stretches: these line ends; what follows up to the last line end; that line end; and the rest.
                                                                          ⏎⏎|␣⏎␣|⏎|␣␣
6. Signs in o200k: two signs in a row that are no marks, or a sign after a space, begin a part that
   takes all signs that follow, marks too. After a sign, `[\r\n/]*` takes line ends and slashes in
   any order.                                                             !!/!|⏎/⏎/
7. Letters in o200k: a part takes capitals and letters without case (`UPPER*`) up to the first
   lower-case letter, and from there everything except capitals (`LOWER+`).    AあA|aあ
   While there is no lower-case letter, the part ends after the last letter without case (or mark).
   Capitals after that join only if another such letter, or a lower-case one, comes.   AあAあ|A
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import regex

from ....interfaces import Split
from ..._tokenizer_rules.characters import combining
from ..._tokenizer_rules.normalizers import Normalization
from ..._tokenizer_rules.pretokenizers import CL100K, GPT2, O200K, QWEN2, Splitter
from .character_classes import Shapes
from .pretokenized_state import UnsettledList

MARGIN = 4
"""Characters to keep at both ends of a stretch with one label."""

STRETCH = regex.compile(rf"(.)\1{{{2 * MARGIN},}}", regex.DOTALL)
"""Finds, in labels, the stretches that are longer than their two margins."""

_WHITE = regex.compile(r"\s+")
_DIGIT = regex.compile(r"\p{N}")
_SIGNS = regex.compile(r"(?<before>^|.)(?<run>[^\s\p{L}\p{N}]+)", regex.DOTALL)
_TWO_SIGNS = regex.compile(r"[^\s\p{L}\p{N}\p{M}]{2}")
_AFTER_SIGN = regex.compile(r"(?<=[^\s\p{L}\p{N}\p{M}])[\r\n][\r\n/]*")
_LETTERS = regex.compile(r"\p{L}[\p{L}\p{M}]*")
_UP_TO_CAPITAL = regex.compile(r"(?<open>[^\p{Ll}]*)(?<closed>\p{Ll}[^\p{Lu}\p{Lt}]*)?")
_CAPITALS = regex.compile(r"[\p{Lu}\p{Lt}]*$")

# The labels that are not characters of the shape itself: noncharacters, which no shape holds.
_UP_TO_LINE_END, _BLANKS, _LINE_ENDS, _OPEN, _CLOSED, _MANY_SIGNS = map(chr, range(0xFDD0, 0xFDD6))
_COUNTED = (chr(0xFDD6), chr(0xFDD7))


def labels_for(splitter: Splitter) -> Callable[[str], str]:
    """The function that labels the characters of a shape under one pretokenizer."""
    known: dict[str | Split, Callable[[str], str]] = {
        GPT2: _label_gpt2,
        CL100K: _label_cl100k,
        QWEN2: _label_cl100k,
        O200K: _label_o200k,
    }
    label = known.get(splitter.steps[0]) if len(splitter.steps) == 1 else None
    if label is None:
        label = partial(_label_runs, splitter)
    found: Callable[[str], str] = lru_cache(maxsize=1 << 12)(label)
    return found


def _label_gpt2(shape: str) -> str:
    labels: str = _WHITE.sub(lambda run: _BLANKS * len(run[0]), shape)
    return labels


def _label_cl100k(shape: str) -> str:
    labels = list(shape)
    for run in _WHITE.finditer(shape):
        start, end = run.span()
        head = start + len(run[0]) - len(run[0].lstrip("\r\n"))
        last = max(shape.rfind("\n", start, end), shape.rfind("\r", start, end))
        for at in range(head, end):
            labels[at] = _UP_TO_LINE_END if at < last else _BLANKS if at > last else shape[at]
    for digit in _DIGIT.finditer(shape):
        labels[digit.start()] = _COUNTED[digit.start() % 2]
    return "".join(labels)


def _label_o200k(shape: str) -> str:
    labels = list(_label_cl100k(shape))
    for run in _AFTER_SIGN.finditer(shape):
        labels[run.start() : run.end()] = _LINE_ENDS * len(run[0])
    for found in _SIGNS.finditer(shape):
        start, end = found.span("run")
        if found["before"] == " " and not regex.match(r"\p{M}", found["run"]):
            first = start
        else:
            # After a line end, slashes may belong to the part before it.
            skipped = found["before"] in ("", "\r", "\n")
            at = start + (len(found["run"]) - len(found["run"].lstrip("/")) if skipped else 0)
            begins = _TWO_SIGNS.search(shape, at, end)
            first = end if begins is None else begins.start()
        labels[first:end] = _MANY_SIGNS * (end - first)
    for run in _LETTERS.finditer(shape):
        for piece in _UP_TO_CAPITAL.finditer(shape, run.start(), run.end()):
            start, end = piece.span("open")
            if piece["closed"] is None:
                end -= len(_CAPITALS.search(piece["open"])[0])
            else:
                labels[slice(*piece.span("closed"))] = _CLOSED * len(piece["closed"])
            labels[start:end] = _OPEN * (end - start)
    return "".join(labels)


def _label_runs(splitter: Splitter, shape: str) -> str:
    """Rows of one class are long runs, if the expressions form runs of it; nothing else is."""
    return "".join(
        member if splitter.forms_runs(member) else _COUNTED[at % 2]
        for at, member in enumerate(shape)
    )


class RunFolder:
    """Leaves out the middle of long runs.

    Args:
        splitter: of the pretokenizer.
        shapes: its shapes.
        normalization: the tokenizer's.
        kept_at_end: how many of the last characters of a text are never left out.
    """

    def __init__(
        self, splitter: Splitter, shapes: Shapes, normalization: Normalization, kept_at_end: int
    ) -> None:
        self._shapes = shapes
        self._normalization = normalization
        self._kept_at_end = kept_at_end
        self._label = labels_for(splitter)

    def fold(self, tokens: UnsettledList) -> UnsettledList | None:
        """The same list with less text; None if two tokens merge in what is left out."""
        ends, text = tokens.ends, tokens.text
        last = min(len(text) - self._kept_at_end, ends[-1] - 1) if ends else 0
        labels = self._label(self._shapes.shape(text))
        for run in reversed(list(STRETCH.finditer(labels))):
            start, end = run.start() + MARGIN, min(run.end() - MARGIN, last)
            end = self._last_safe_end(text, start, end)
            if end <= start:
                continue
            pairs = zip(tokens.ends, tokens.unmerged, strict=False)
            if not all(unmerged for at, unmerged in pairs if start <= at <= end):
                return None
            tokens = tokens.without(start, end)
        return tokens

    def _last_safe_end(self, text: str, start: int, end: int) -> int:
        """The last offset up to `end` such that leaving out `start` to there composes nothing new.

        A normalizer composes a mark with its base unless another mark of the same class stands
        between them. So it is safe to stop

        1. before a character that composes with nothing; or
        2. inside a row of marks of one class: what is left blocks as well as all of them did.

        `start` where neither holds, and then nothing can be left out.
        """
        if self._normalization.idle or start >= end:
            return end
        for at in range(end, start, -1):
            if not self._normalization.joins(text[at]):
                return at
        classes = set(map(combining, text[start - 1 : end + 1]))
        return end if len(classes) == 1 and 0 not in classes else start
