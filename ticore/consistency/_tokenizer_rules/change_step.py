"""A step of a pretokenizer that splits a text where its characters change from script to script.

The expression is a choice of sets, one for each script. A character of none of them, such as a
space, stays with the characters before it:

    "a b, да"   ->   "a b" | ", " | "да"        Latin, Common, Cyrillic; a space is in no set

So a character in no set is never the first of a part, but at the beginning of a text. There the
step drops it. No list for such a text comes back; `dropped_beginning` sees to that, and here such a
beginning is a part of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from ..._support.caches import TextTable
from ...interfaces import Split
from .._unsupported import Unsupported
from .expressions.character_sets import may_be_in_doubt
from .expressions.open_matches import OpenMatch, Ways
from .expressions.tree import Chars, Choice, Node, Repeat, leaves
from .pretokenizer_step import Segment, Step, is_member

_NONE = ""  # what stands for the set of a character that is in none


class ChangeStep(Step):
    """A step whose behavior is `on_change`.

    Args:
        split: what the step does.
        node: its expression.

    Raises:
        Unsupported: the expression is no choice of sets.
    """

    drops_beginnings = True

    def __init__(self, split: Split, node: Node) -> None:
        options = node.options if isinstance(node, Choice) else (node,)
        if split.inverted or not all(isinstance(option, Chars) for option in options):
            raise Unsupported(
                "a pretokenizer splits texts where characters change, but not from one set to "
                "another"
            )
        # A run of one set is never split inside.
        super().__init__(split, Choice(tuple(Repeat(one, 1, None) for one in leaves(node))))
        self._sources = [one.source for one in leaves(node)]
        self._set_of = TextTable(self._find_set)
        self.can_be_cut = False  # the rest may begin with a character of no set
        self.depends_on_unicode = may_be_in_doubt(split.expression)

    def drops_first(self, character: str) -> bool:
        """See `Step`: no part begins with a character of no set."""
        return self._set_of[ord(character)] == _NONE

    def segments(self, text: str) -> list[Segment]:
        """The parts of a whole text, and what is dropped before them."""
        found, start, current = list[Segment](), 0, _NONE
        for at, character in enumerate(text):
            its_set = self._set_of[ord(character)]
            if its_set in (_NONE, current):
                continue
            if at > start:
                found.append(Segment(start, at, current != _NONE))
            start, current = at, its_set
        if start < len(text):
            found.append(Segment(start, len(text), current != _NONE))
        return found

    def settled_segments(self, text: str) -> tuple[list[Segment], int]:
        """All but the last segment, which may go on."""
        found = self.segments(text)
        return found[:-1], found[-1].start if found else 0

    def ends(self, text: str) -> list[int]:
        """Where the parts of a whole text end."""
        return [segment.end for segment in self.segments(text)]

    def open_match(self) -> OpenMatch:
        """See `Step`: a part ends before the first character of another set."""

        def match(text: str, at: int) -> Ways:
            its_set = self._set_of[ord(text[at])]
            if its_set == _NONE:
                return ()
            for later in range(at + 1, len(text)):
                if self._set_of[ord(text[later])] not in (_NONE, its_set):
                    return (len(text) - later,)
            return (its_set, 0), 0

        return match

    def matched(self, classes: Sequence[str]) -> set[str]:
        """Pairs of characters that a part may hold, in the middle of a text."""
        sets = {character: self._set_of[ord(character)] for character in classes}
        pairs = product(classes, repeat=2)
        return {a + b for a, b in pairs if sets[a] == sets[b] or _NONE in (sets[a], sets[b])}

    def joined(self, classes: Sequence[str]) -> set[str]:
        """Pairs of characters that this step may leave in one part."""
        return self.matched(classes)

    def _find_set(self, code: int) -> str:
        """The number of the set that a character is in, as a character."""
        character = chr(code)
        numbers = (n for n, source in enumerate(self._sources, 1) if is_member(source, character))
        return next(map(chr, numbers), _NONE)
