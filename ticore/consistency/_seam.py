"""Whether two texts, or two lists of ids, may be encoded apart and put together.

A rollout grows turn by turn, and each turn is often encoded by itself. At the seam the ids may be
others than those of the whole text:

    "one\\n" + "\\n two"       encoded apart   one ⏎ | ⏎ ␣two
                              together        one ⏎⏎ ␣two
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from .._support.checks import checked_ids
from .._support.common_beginning import common_length
from .._support.utf8 import require_text
from ..interfaces import Tokenizer
from ..registry import wrap
from ._boundaries import is_boundary, parts
from ._engines.text_cuts import TextCuts, text_cuts
from ._unsupported import Unsupported

Method = Literal["tables", "encoding"]

# Characters. A cut is looked for this far from the seam; there is one after every few words.
_NEAR = 2048


@dataclass(frozen=True)
class Seam:
    """What happens where two texts or lists meet.

    Attributes:
        apart: whether both, encoded apart and put together, are what the whole is encoded to. This
            is exact.
        always: whether it is proven that this stays so with any text before `left` and any text
            after `right`. False if some text changes it, or if no proof was found.
        changed_left: how many ids at the end of `left` are others in the whole.
        changed_right: how many ids at the beginning of `right` are others in the whole.
        replacement: the ids that take the place of these in the whole.
        method: `tables`: the cuts of the tokenizer say which part of the texts matters. `encoding`:
            the whole was encoded, and `always` is False.
        why: why `always` is False; empty if it is True.
    """

    apart: bool
    always: bool
    changed_left: int
    changed_right: int
    replacement: tuple[int, ...]
    method: Method
    why: str = ""


def seam(
    tokenizer: Tokenizer | object, left: str | Sequence[int], right: str | Sequence[int]
) -> Seam:
    """Whether two texts may be encoded apart with the same result as together.

    Of two texts: is encode(left + right) == encode(left) + encode(right)? Of ids: is what is put
    together the encoding of its own text, encode(decode(left + right)) == left + right? Special ids
    stay as they are, and each part between two of them is a text by itself, as in `compare`. So
    what meets beside a special id is always apart, and parts that do not meet are not looked at.

    If `always` is True, then for all texts L and R encode(L + left + right + R) ==
    encode(L + left) + encode(right + R). If the ids of one side are given, their text is meant.

    Args:
        tokenizer: any tokenizer that `ticore.wrap` accepts.
        left, right: each a text or token ids. A SentencePiece tokenizer puts a space before each
            text (the dummy prefix), so two texts are hardly ever apart there: give ids for `right`.

    Returns:
        The answer, and which ids change at the seam.

    Raises:
        SettingsError: the tokenizer does not have an id; a text is not valid Unicode; `tokenizer`
            is not a tokenizer.
        WrongTypeError: a side is neither a text nor a list of ids.

    >>> import ticore
    >>> tokenizer = ticore.load_tokenizer("tiny-en")
    >>> old = next(i for i in range(tokenizer.vocab_size) if tokenizer.token_bytes(i) == b"old")
    >>> seam(tokenizer, "It was c", [old]).apart  # " cold" is one token
    False
    >>> seam(tokenizer, "It was", tokenizer.encode("late.")).always
    True
    """
    tokenizer = wrap(tokenizer)
    left_ids, right_ids = (_ids(tokenizer, side) for side in (left, right))
    special = tokenizer.special_ids
    held = special.intersection((*(left_ids or ()), *(right_ids or ())))
    if lost := [i for i in held if not is_boundary(tokenizer, i)]:
        why = f"the id {lost[0]} stands for unknown text, which is lost"
        return Seam(False, False, 0, 0, (), "encoding", why)
    if (left_ids and left_ids[-1] in special) or (right_ids and right_ids[0] in special):
        return Seam(True, True, 0, 0, (), "tables")
    if left_ids is not None:
        left_ids = left_ids[list(parts(left_ids, special))[-1].start :]
    if right_ids is not None:
        right_ids = right_ids[: next(parts(right_ids, special)).stop]
    return _answer(tokenizer, _sides(tokenizer, left, right, left_ids, right_ids))


class _Sides(NamedTuple):
    """What meets at the seam, without what stands beyond special tokens.

    Attributes:
        left, right: the texts of which the whole consists.
        alone: the text of the right side by itself. After other ids a tokenizer may write a space
            that it leaves out at the beginning of a text.
        left_ids, right_ids: the ids of each side, if they were given.
    """

    left: str
    right: str
    alone: str
    left_ids: list[int] | None
    right_ids: list[int] | None


def _sides(
    tokenizer: Tokenizer,
    left: str | Sequence[int],
    right: str | Sequence[int],
    left_ids: list[int] | None,
    right_ids: list[int] | None,
) -> _Sides:
    before = left if isinstance(left, str) else tokenizer.decode(left_ids or [])
    if right_ids is None:
        assert isinstance(right, str)
        return _Sides(before, right, right, left_ids, None)
    given = tokenizer.encode(before) if left_ids is None else left_ids
    start, whole = tokenizer.decode(given), tokenizer.decode([*given, *right_ids])
    if not whole.startswith(start):  # each side has a part of one character
        return _Sides("", whole, whole, given, right_ids)
    after, alone = whole.removeprefix(start), tokenizer.decode(right_ids)
    return _Sides(before, after, alone, left_ids, right_ids)


def _ids(tokenizer: Tokenizer, side: str | Sequence[int]) -> list[int] | None:
    if isinstance(side, str):
        return None
    if isinstance(side, bytes | bytearray):
        require_text(side)
    return checked_ids(side, tokenizer.vocab_size)


def _answer(tokenizer: Tokenizer, sides: _Sides) -> Seam:
    """The answer from the text between two cuts, if there are such cuts; else from all.

    Let a be a cut in the left side or at the seam, and e one in the right side or at the seam. Both
    are cuts whatever the texts L and R around them are, in the whole and in the side. Then

        encode(L+left+right+R) = X + C + Z    C between the two cuts in the whole
        encode(L+left)         = X + A        A = encode(left after a)
        encode(right+R)        = B + Z        B before e in the right side

    X is the same twice: a cut settles the ids before it if the character after it is known, and
    here this character is the same; at the seam only a cut that settles both sides is taken. Z is
    the same twice, since what stands after a cut is encoded by itself. So the sides are apart if
    and only if C = A + B, whatever L and R are. C and B are read off encode(left after a + right)
    and encode(right), which both go on with the encoding of what stands after e.
    """
    left_ids, right_ids = sides.left_ids, sides.right_ids
    try:
        cuts = text_cuts(tokenizer)
        found = _cuts_around(cuts, sides)
    except Unsupported as reason:
        cuts, found, why = None, None, str(reason)
    else:
        why = "what stands before or after may change the ids at the seam, or they are too short"
    if cuts is not None and found is not None:
        at, end = found
        right, alone = sides.right, sides.alone
        if right_ids is None and end < _NEAR < len(right):  # the rest is a part of R
            right = alone = right[:_NEAR]
        a = tokenizer.encode(cuts.rest(sides.left, at)) if at < len(sides.left) else []
        b = tokenizer.encode(alone)
        is_read = left_ids is None or tokenizer.encode(sides.left) == left_ids
        if is_read and right_ids in (None, b):
            c = tokenizer.encode(cuts.rest(sides.left + right, at))
            return _compared(a, b, c, "tables", "" if c == a + b else "the ids at the seam differ")
        why = "a list of ids is not what its text is encoded to"
    whole = tokenizer.encode(sides.left + sides.right)
    a = tokenizer.encode(sides.left) if left_ids is None else left_ids
    b = tokenizer.encode(sides.alone) if right_ids is None else right_ids
    return _compared(a, b, whole, "encoding", why)


def _cuts_around(cuts: TextCuts, sides: _Sides) -> tuple[int, int] | None:
    """A cut in the left side or at its end, and one in the right side or at its beginning.

    Both near the seam, counted in characters of the side; see `_answer`. None if there are none.
    """
    left, right, alone = sides.left[-_NEAR:], sides.right[:_NEAR], sides.alone[:_NEAR]
    whole = cuts.known(left + right, from_start=False)
    left_side, right_side = cuts.known(left, from_start=False, to_end=True), cuts.known(alone)
    seam, moved = len(left), len(sides.right) - len(sides.alone)
    if cuts.settles_both_sides(whole, seam):
        at: int | None = seam
    else:
        known = (at for at in range(seam - 1, 0, -1) if whole.is_cut(at) and left_side.is_cut(at))
        at = next(known, None)
    if at is None:
        return None
    if whole.is_cut(seam) and cuts.rest(left + right, seam) == cuts.rest(alone, 0):
        return len(sides.left) - seam + at, 0
    ends = (
        end
        for end in range(1, len(right))
        if whole.is_cut(seam + end) and end > moved and right_side.is_cut(end - moved)
    )
    end = next(ends, None)
    return None if end is None else (len(sides.left) - seam + at, end)


def _compared(
    left: list[int], right: list[int], whole: list[int], method: Method, why: str
) -> Seam:
    """The Seam of two lists of ids, and the list that the whole is encoded to."""
    same = common_length(left, whole)
    same_end = common_length(right[::-1], whole[same:][::-1])
    return Seam(
        apart=whole == left + right,
        always=method == "tables" and not why,
        changed_left=len(left) - same,
        changed_right=len(right) - same_end,
        replacement=tuple(whole[same : len(whole) - same_end]),
        method=method,
        why=why,
    )
