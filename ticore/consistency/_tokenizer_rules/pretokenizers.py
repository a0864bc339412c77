"""How a text is split into parts, and which of the boundaries are settled.

Text that is appended can move a boundary that stood before. A run of spaces loses its last space to
the word that follows; an apostrophe becomes part of a contraction. A boundary that no appended text
moves is *settled*. To find out, the expression is run over the text, and it is noticed whether it
asks for more than there is (`expressions.matching`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from itertools import product
from operator import methodcaller
from typing import NamedTuple

import regex

from ..._support.caches import cached_method
from ...interfaces import Split
from .._unsupported import Unsupported
from .byte_steps import read_steps
from .change_step import ChangeStep
from .expressions.classes import AMBIGUOUS, CharacterClasses, is_ambiguous
from .expressions.neighbours import looks_far, matched_alone
from .expressions.tree import Node, to_regex
from .open_ends import OpenEnd, OpenEnds
from .pretokenizer_step import Segment, Step, is_member, split_whole

__all__ = [
    "CL100K",
    "GPT2",
    "O200K",
    "QWEN2",
    "WELL_KNOWN",
    "WORDS",
    "Splitter",
    "is_ambiguous",
    "splitter_for",
]

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN2 = CL100K.replace(r"\p{N}{1,3}", r"\p{N}")
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTION}"
    rf"|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTION}"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

WELL_KNOWN = frozenset({GPT2, CL100K, QWEN2, O200K})

WORDS = " [^ ]*"  # Metaspace's: a text is split before every space

_END_OF = methodcaller("end")
_MOST_DOUBTFUL = 2  # characters; each one more makes the readings ten times as many
_MOST_CLASSES = 512


class _Boundary(NamedTuple):
    """A settled boundary.

    Attributes:
        restarts: the text after it is split as if it stood alone.
    """

    at: int
    restarts: bool


def _step(split: Split, node: Node) -> Step:
    return ChangeStep(split, node) if split.behavior == "on_change" else Step(split, node)


@cache
def splitter_for(steps: tuple[str | Split, ...]) -> Splitter:
    """The one `Splitter` of a pretokenizer, so that every tokenizer uses what it has learned."""
    return Splitter(steps)


class Splitter:
    """Splits texts as one pretokenizer does. Thread-safe.

    Splits between two bytes that are always apart are not made here; see `byte_steps`.

    Args:
        steps: those of a TokenizerStructure, or one expression.

    Attributes:
        steps: as given.
        classes: of the characters that the expressions tell apart.

    Raises:
        Unsupported: an expression is not understood, text is dropped, or there is no step.
    """

    def __init__(self, steps: str | tuple[str | Split, ...]) -> None:
        self.steps = (steps,) if isinstance(steps, str) else tuple(steps)
        if not self.steps:
            raise Unsupported("there is no pretokenizer")
        self._steps = [_step(split, node) for split, node in read_steps(self.steps).steps]
        nodes = [step.node for step in self._steps]
        self.classes = CharacterClasses(
            nodes, depend_on_unicode=any(step.depends_on_unicode for step in self._steps)
        )
        if len(self.classes.members_with_letters) > _MOST_CLASSES:
            raise Unsupported(
                f"the pretokenizer tells more than {_MOST_CLASSES} classes of characters apart"
            )
        for step in self._steps:
            if step.may_drop(self.classes):
                raise Unsupported(f"the pretokenizer drops text: its step {step.split!r}")
        self._single = self._steps[0] if len(self._steps) == 1 else None
        # Where every text is covered by matches, the ends of matches are all there is to know.
        self._covering = (
            self._single is not None
            and self._single.is_boundary(before=True, after=True)
            and all(matched_alone(nodes[0], is_member, c) for c in self.members_with_letters)
        )
        self._expression = regex.compile(to_regex(nodes[0]))
        self._open_ends = OpenEnds(self._steps)

    @property
    def members(self) -> list[str]:
        """One character of each class; letters of contractions are not told apart."""
        return self.classes.members

    @property
    def members_with_letters(self) -> list[str]:
        """One character of each class."""
        return self.classes.members_with_letters

    @property
    def drops_beginnings(self) -> bool:
        """Whether the beginnings of some texts are dropped."""
        return self._steps[0].drops_beginnings

    @property
    def drops_beginnings_of_parts(self) -> bool:
        """Whether the beginnings of some parts are dropped, also inside a text."""
        return any(step.drops_beginnings for step in self._steps[1:])

    def drops_first(self, character: str) -> bool:
        """Whether a text that begins with `character` loses it."""
        return self._steps[0].drops_first(character)

    @cached_property
    def restarts(self) -> bool:
        """Whether the text after any boundary is split as if it stood alone."""
        return all(step.can_be_cut for step in self._steps[:-1]) and not any(
            step.looks_back for step in self._steps
        )

    @cached_property
    def looks_one_ahead(self) -> bool:
        """Whether a boundary between two classes that are never joined settles all before it.

        So it is if the text after it is split as if it stood alone, and nothing is looked at beyond
        the first character after a match.
        """
        return self.restarts and not any(looks_far(step.node) for step in self._steps)

    @cached_property
    def joined(self) -> frozenset[str]:
        """The pairs of neighbours, by their classes, that a part may hold; perhaps too many."""
        members = self.members_with_letters
        found = (step.joined(members) for step in self._steps)
        return frozenset(set.intersection(*found))

    @cached_property
    def parted(self) -> frozenset[str]:
        """The pairs of neighbours, by their classes, that are cut whatever stands around them.

        Between two such characters there is a boundary. The text up to it is split alike, whatever
        follows the second character. The text after it is split as if it stood alone. For:

        1. No part holds the pair, so there is a boundary. Example in GPT-2: a letter and a space.
        2. No try to match passes the boundary: it would have to match the pair. It may look at the
           second character, and at none after it (`looks_far`).
        3. No match of an earlier step holds the pair, or its rest is a match again; and nothing is
           looked at before a match. So each step begins after the boundary as in a new text.
        4. If a step looks ahead, the steps before it cut at the pair, or do not, whatever follows:
           the second character begins a match of theirs in every text, or in none. Else the later
           step sees this character, or the end of its text. Example: `\\d{3}` before GPT-2's step
           cuts "\\n\\n123" before the digits, and "\\n\\n12" not. So a line end and a digit do not
           count.

        Before the boundary the text is *not* always split as if it ended there: a run of spaces
        at the end of a text stays whole, and before a letter it loses its last one.
        """
        if any(step.looks_back or looks_far(step.node) for step in self._steps):
            return frozenset()
        members = self.members_with_letters
        found = {a + b for a, b in product(members, repeat=2)} - self.joined
        for n, step in enumerate(self._steps[:-1]):
            if not step.can_be_cut:
                found -= step.matched(members)
            if any(later.looks_ahead for later in self._steps[n + 1 :]):
                unsure = step.unsure_beginnings(members)
                found = {pair for pair in found if pair[1] not in unsure}
        return frozenset(found)

    @cached_method(1 << 10)
    def forms_runs(self, member: str) -> bool:
        """Whether a long run of a class is never split inside, but near its two ends."""
        if member.isnumeric():  # digits are often counted, and never many
            return False
        return all(step.forms_runs(member) for step in self._steps)

    def ends(self, text: str) -> Iterator[int]:
        """The offsets where the parts of `text` end. Each part begins where the one before ends."""
        if self._covering:
            return map(_END_OF, self._expression.finditer(text))
        return iter(split_whole(self._steps, text))

    def ends_between(self, text: str, start: int, stop: int) -> list[int]:
        """The offsets from `start` to `stop` where parts of `text` end.

        Only the text around them is split: between two cuts that are certain (`parted`).
        """
        low = next((at for at in range(start, 0, -1) if self._is_parted(text, at)), 0)
        high = next((at for at in range(stop, len(text)) if self._is_parted(text, at)), len(text))
        # What stands before a cut may depend on the one character after it.
        ends = [low, *(low + end for end in self.ends(text[low : high + 1]))]
        return [end for end in ends if end and start <= end <= stop]

    def _is_parted(self, text: str, at: int) -> bool:
        return self.classes.with_letters(text[at - 1 : at + 1]) in self.parted

    def open_end(self, shape: str) -> OpenEnd:
        """What may follow a text of this shape, and how it is split then."""
        return self._open_ends.of(shape)

    def settled(self, text: str) -> list[int]:
        """The boundaries inside `text` that no appended text moves, the last one first.

        Only those after which the text is split as if it stood alone. They are the same for every
        kind of character that an ambiguous one may be taken for. In a text with more than two
        ambiguous characters no boundary counts as settled.
        """
        shape = self.classes.shape(text)
        if AMBIGUOUS not in shape:
            return self.settled_in_shape(shape)
        places = [at for at, c in enumerate(shape) if c == AMBIGUOUS]
        if len(places) > _MOST_DOUBTFUL:
            return []
        found: list[set[int]] = []
        # What this Python takes them for is one reading; they may be in sets of single characters.
        kinds = [[text[at], *self.classes.readings] for at in places]
        for reading in product(*kinds):
            characters = list(text)
            for at, character in zip(places, reading, strict=True):
                characters[at] = character
            read = list(self.classes.shape("".join(characters)))
            for at, character in zip(places, reading, strict=True):
                if read[at] == AMBIGUOUS:
                    read[at] = character
            found.append(set(self.settled_in_shape("".join(read))))
        return sorted(set.intersection(*found), reverse=True)

    @cached_method(1 << 14)
    def settled_in_shape(self, shape: str) -> list[int]:
        """`settled` of a text with this shape."""
        found = self._settled(shape, 0)
        return [boundary.at for boundary in reversed(found) if boundary.restarts]

    def _settled(self, text: str, level: int) -> list[_Boundary]:
        """The settled boundaries that the steps from `level` on make in an unfinished text."""
        step = self._steps[level]
        segments, known = step.settled_segments(text)
        found = step.boundaries(segments)
        # A boundary between the last segment and what follows, if it is one in any case.
        if segments and known < len(text) and segments[-1].end == known:
            last = segments[-1].is_match
            if last and all(step.is_boundary(last, after) for after in (True, False)):
                found.append(known)
        if level + 1 == len(self._steps):
            return [_Boundary(at, step.restarts(text, at, is_whole=False)) for at in found]
        inner, start = list[_Boundary](), 0
        for end in found:
            inner += self._inside(text[start:end], start, level + 1)
            inner.append(_Boundary(end, True))
            start = end
        for boundary in self._settled(text[start:known], level + 1):
            inner.append(_Boundary(start + boundary.at, boundary.restarts))
        found_here = set(found)
        return [
            self._restarting(b, text, found_here, segments, step, is_whole=False) for b in inner
        ]

    def _inside(self, text: str, start: int, level: int) -> list[_Boundary]:
        """The boundaries that the steps from `level` on make inside a whole part."""
        step = self._steps[level]
        segments = step.segments(text)
        found = step.boundaries(segments)
        if level + 1 == len(self._steps):
            return [_Boundary(start + at, step.restarts(text, at, is_whole=True)) for at in found]
        inner, at = list[_Boundary](), 0
        for end in [*found, len(text)]:
            inner += self._inside(text[at:end], at, level + 1)
            if end < len(text):
                inner.append(_Boundary(end, True))
            at = end
        found_here = set(found)
        return [
            self._restarting(b, text, found_here, segments, step, is_whole=True)._replace(
                at=start + b.at
            )
            for b in inner
        ]

    def _restarting(
        self,
        boundary: _Boundary,
        text: str,
        found: set[int],
        segments: Sequence[Segment],
        step: Step,
        *,
        is_whole: bool,
    ) -> _Boundary:
        """A boundary with whether `step`, too, splits the text after it as if it stood alone.

        It does at its own boundaries, between matches, and inside a match of one set; but not where
        it looks back at what stands before the boundary.
        """
        at, restarts = boundary
        if not restarts or not step.restarts(text, at, is_whole=is_whole):
            return _Boundary(at, False)
        if at in found:
            return boundary
        inside = any(s.start < at < s.end and s.is_match for s in segments)
        return boundary if not inside or step.can_be_cut else _Boundary(at, False)
