"""What the engine for pretokenized text remembers of a list of tokens.

Text settles from the left: up to the last settled boundary nothing that follows changes how it is
split, so the tokens up to there are forgotten. With the tokens of "the house is":

    the| house| is
    ^^^^^^^^^^           settled: a part of letters ends before a space, whatever follows
              ^^^        kept: " is" may go on, as in " island"
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, NamedTuple

from ..chain import Chain
from .boundary_effects import Tail
from .character_classes import Closing

NO_TOKENS = Chain()
EMPTY_TAIL = Tail()


class Form:
    """A tail, and the steps from it that were made before; see `known_steps`.

    Attributes:
        tail: of the states that have this form.
        steps: by kind of token; None where no step is remembered.
        opened: the tail inside a character that begins after it, by whether the token that begins
            the character does not merge with the last one.
        answers: the `TailAnswers` of lists with this tail; None before they were needed.
    """

    __slots__ = ("answers", "opened", "steps", "tail")

    def __init__(self, tail: Tail) -> None:
        self.tail = tail
        self.steps: dict[int, Any] = {}
        self.opened: dict[bool, Tail] = {}
        self.answers: Any = None


class PretokenizedState(NamedTuple):
    """A list of tokens, as far as it matters to what may follow.

    Of its text only what can still be split differently is kept, and of that a bounded part:
    `run_folding` leaves out the middle of long runs. So a state takes the same memory, and the next
    one the same time, after twenty thousand letters as after twenty.

    Attributes:
        tokens: all tokens since the last settled boundary. They are read where the tokenizer is
            asked.
        text: their text, without an unfinished character and without what was left out.
        ends: where tokens end in `text`; tokens that end inside a character are not among them.
        numbers: of the tokens that end there; see `Chain.number`.
        unmerged: for each of these tokens that has a next one, whether the two do not merge.
        whole_part_only: for each of these tokens, whether it comes only as a part of its own.
        replaced: (start, end) of tokens in whose place another token stands where they are a part
            of their own.
        tail: the text as the expression sees it; None if only the tokenizer can decide.
        open_bytes: where a character is unfinished, the bytes of the tokens that share it, up to
            its first byte.
        unfinished: the bytes of the unfinished character.
        closed_by: by the shape of a character, whether the text may end before it, because it
            begins a new part whatever follows; None where that is not known.
        broken: no text begins with the list, whatever follows.
        form: by which steps from here are remembered; None where they are not.
        opened_after: inside a character, the state before it if that has a form; else None.
    """

    tokens: Chain = NO_TOKENS
    text: str = ""
    ends: tuple[int, ...] = ()
    numbers: tuple[int, ...] = ()
    unmerged: tuple[bool, ...] = ()
    whole_part_only: tuple[bool, ...] = ()
    replaced: tuple[tuple[int, int], ...] = ()
    tail: Tail | None = EMPTY_TAIL
    open_bytes: bytes = b""
    unfinished: bytes = b""
    closed_by: Closing | None = None
    broken: bool = False
    form: Form | None = None
    opened_after: PretokenizedState | None = None

    @property
    def ids(self) -> tuple[int, ...]:
        """The tokens since the last settled boundary, copied out."""
        return self.tokens.ids()


class UnsettledList(NamedTuple):
    """A list before its text is cut and folded. The fields are those of PretokenizedState."""

    tokens: Chain
    text: str
    ends: tuple[int, ...]
    numbers: tuple[int, ...]
    unmerged: tuple[bool, ...]
    whole_part_only: tuple[bool, ...]
    replaced: tuple[tuple[int, int], ...]
    unfinished: bytes

    def since(self, cut: int) -> UnsettledList:
        """What stands after `cut`, where a token ends."""
        first = self.ends.index(cut) + 1
        return self._replace(
            tokens=self.tokens.since(self.numbers[first - 1]),
            text=self.text[cut:],
            ends=tuple(end - cut for end in self.ends[first:]),
            numbers=self.numbers[first:],
            unmerged=self.unmerged[first:],
            whole_part_only=self.whole_part_only[first:],
            replaced=tuple((a - cut, b - cut) for a, b in self.replaced if a >= cut),
        )

    def without(self, start: int, end: int) -> UnsettledList:
        """The list without the characters from `start` to `end`, and without what ends there."""
        kept = [n for n, at in enumerate(self.ends) if not start <= at <= end]
        removed = end - start
        ends = map(self.ends.__getitem__, kept)
        return self._replace(
            text=self.text[:start] + self.text[end:],
            ends=tuple(at if at < start else at - removed for at in ends),
            numbers=tuple(self.numbers[n] for n in kept),
            unmerged=tuple(self.unmerged[n] for n in kept if n < len(self.unmerged)),
            whole_part_only=tuple(self.whole_part_only[n] for n in kept),
            replaced=tuple(
                (a if a < start else a - removed, b if b < start else b - removed)
                for a, b in self.replaced
                if not (start <= a <= end or start <= b <= end)
            ),
        )


def start_of_last(known: PretokenizedState | UnsettledList, tokens: Chain, count: int) -> int:
    """Where the last `count` of `tokens` begin in the text of `known`.

    Args:
        known: the list `tokens`, or the list without its last token.
        tokens: a list of tokens.
        count: how many; at least one.

    Returns:
        An offset; -1 where that place was left out of the text.
    """
    number = tokens.number - count
    if count == len(tokens):
        return 0
    at = bisect_left(known.numbers, number)
    is_kept = at < len(known.numbers) and known.numbers[at] == number
    return known.ends[at] if is_kept else -1
