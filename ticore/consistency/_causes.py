"""Why two lists of ids differ at the first place where they do.

The lists agree up to there, so the part between two special tokens in which they differ begins at
the same place in both. Its two texts and its two lists tell the cause:

1. *special token*: another special token ends the part, or ordinary tokens spell the name of one.
2. *unfinished character*: the list holds bytes that are no whole character.
3. *strip*: white space is missing or was added at an end.
4. *normalizer*: the tokenizer changes characters, or does not know them.
5. *template*: the text is another one. It was written again: by a chat template, a parser of tool
   calls, or another serializer.
6. *pretokenizer*: a token reaches over a place where the tokenizer splits every text.
7. *bpe*: the algorithm (BPE, or unigram) joins the same characters in another way.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Literal, NamedTuple, get_args

from .._support.common_beginning import common_length
from .._support.utf8 import is_complete
from ..interfaces import Tokenizer
from ._alignment import next_change
from ._boundaries import is_boundary, special_name
from ._engines.list_check import list_check_at_hand
from ._engines.tokenizer_parts import spell_each
from ._tokenizer_rules.pretokenizers import Splitter, splitter_for
from ._unsupported import Unsupported

Cause = Literal[
    "bpe",
    "pretokenizer",
    "normalizer",
    "special token",
    "template",
    "strip",
    "unfinished character",
]
"""Why ids changed, see `Difference`."""

CAUSES: tuple[Cause, ...] = get_args(Cause)

ADVICE: dict[Cause, str] = {
    "bpe": "the model sampled tokens that the tokenizer would join in another way; carry the "
    "sampled ids to the trainer, or sample with ticore.Verifier",
    "pretokenizer": "the model sampled a token over a place where the tokenizer splits; carry the "
    "sampled ids to the trainer, or sample with ticore.Verifier",
    "normalizer": "the tokenizer changes these characters or does not know them; carry the ids",
    "special token": "a special token is missing, is another one, or is spelled by ordinary "
    "tokens; compare the end tokens of the engine and of the template, and escape such names in "
    "texts of users and tools",
    "template": "the text was written again, as another text; append the sampled ids to the "
    "conversation instead of rendering their messages again",
    "strip": "white space at an end was removed or added; keep the text as it is, and let the "
    "template write line ends between turns once",
    "unfinished character": "the ids end inside a character, or hold malformed bytes; carry "
    "the ids, or decode with ticore.TokenStream",
}
"""What to do about each cause."""

_SHOWN = 16  # ids of a difference, at most
_NEAR = 8  # bytes around a place; a character has at most 4
_CONTINUATIONS = bytes(range(0x80, 0xC0))  # bytes that are never the first of a character


@dataclass(frozen=True)
class Difference:
    """The first place where two lists of ids differ.

    Attributes:
        at: the position of the first id that differs, in both lists; the length of the shorter one
            if it is a beginning of the other.
        character: where its text begins in `Comparison.text`, in characters.
        ids, again: the ids of each list from there to where both agree again, at most 16.
        text, text_again: what these ids spell. Malformed bytes are U+FFFD, and a special token
            stands by its name.
        cause: one of `bpe`, `pretokenizer`, `normalizer`, `special token`, `template`, `strip`,
            `unfinished character`; `ticore.consistency._causes` defines them.
    """

    at: int
    character: int
    ids: tuple[int, ...]
    again: tuple[int, ...]
    text: str
    text_again: str
    cause: Cause

    @property
    def advice(self) -> str:
        """What to do about it, in a sentence."""
        return ADVICE[self.cause]

    def __str__(self) -> str:
        return (
            f"first difference at token {self.at} (character {self.character}): "
            f"{self.text!r} as {list(self.ids)}, read as {self.text_again!r} {list(self.again)}; "
            f"cause: {self.cause}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The attributes by name, in types that JSON has."""
        return {
            "at": self.at,
            "character": self.character,
            "ids": list(self.ids),
            "again": list(self.again),
            "text": self.text,
            "text_again": self.text_again,
            "cause": self.cause,
        }


def first_difference(
    tokenizer: Tokenizer,
    ids: Sequence[int],
    again: Sequence[int],
    *,
    is_read: bool,
    character_of: Callable[[int], int],
) -> Difference:
    """The first difference of two lists that are not equal.

    Args:
        tokenizer: of both.
        ids, again: the lists.
        is_read: whether `again` is what the tokenizer reads from the text of `ids`; else it comes
            from elsewhere, and may have another text.
        character_of: where the text of a token of `ids` begins, in characters.
    """
    at = common_length(ids, again)
    special = tokenizer.special_ids
    start = next((n + 1 for n in range(at - 1, -1, -1) if ids[n] in special), 0)
    sides = _Side.of(tokenizer, ids, start), _Side.of(tokenizer, again, start)
    here, there = sides
    stop, stop_again = stops = _end(here, there, at - start)
    cause = _cause(tokenizer, here, there, at - start, stops, is_read=is_read)
    shown, shown_again = list(ids[at : start + stop]), list(again[at : start + stop_again])
    if not (shown and shown_again):  # what follows shows where tokens are missing
        shown, shown_again = (
            list(ids[at : start + stop + 1]),
            list(again[at : start + stop_again + 1]),
        )
    return Difference(
        at=at,
        character=character_of(at),
        ids=tuple(shown[:_SHOWN]),
        again=tuple(shown_again[:_SHOWN]),
        text=_spelled(tokenizer, shown[:_SHOWN]),
        text_again=_spelled(tokenizer, shown_again[:_SHOWN]),
        cause=cause,
    )


class _Side(NamedTuple):
    """The part of a list in which it differs from another one.

    Attributes:
        ids: without the special token that ends it.
        ends: where the bytes of each id end.
        data: the bytes.
        text: decode(ids).
        special: the special id that ends it; None at the end of the list.
        name: of this id.
    """

    ids: Sequence[int]
    ends: list[int]
    data: bytes
    text: str
    special: int | None
    name: str

    def text_of(self, start: int, stop: int) -> str:
        """What the ids from `start` to `stop` spell, with the rest of characters at both ends."""
        edges = [0, *self.ends]
        first, last = edges[start], edges[stop]
        while 0 < first < len(self.data) and self.data[first] in _CONTINUATIONS:
            first -= 1
        rest = self.data[last : last + _NEAR]
        last += len(rest) - len(rest.lstrip(_CONTINUATIONS))
        return self.data[first:last].decode(errors="replace")

    @classmethod
    def of(cls, tokenizer: Tokenizer, ids: Sequence[int], start: int) -> _Side:
        special = tokenizer.special_ids
        stop = next((n for n in range(start, len(ids)) if ids[n] in special), len(ids))
        part = ids[start:stop]
        spelled = spell_each(tokenizer, part)
        end = ids[stop] if stop < len(ids) else None
        return cls(
            ids=part,
            ends=list(accumulate(map(len, spelled))),
            data=b"".join(spelled),
            text=_decoded(tokenizer, part),
            special=end,
            name="" if end is None else special_name(tokenizer, end),
        )


def _cause(
    tokenizer: Tokenizer,
    here: _Side,
    there: _Side,
    at: int,
    stops: tuple[int, int],
    *,
    is_read: bool,
) -> Cause:
    """The cause of a difference from `at` to `stops`, counted in tokens of the part."""
    if found := _special_cause(tokenizer, here, there, is_read=is_read):
        return found
    if here.data == there.data:
        return _split_cause(tokenizer, here, there, at, stops)
    same = common_length(here.data, there.data)  # bytes
    stop, stop_again = stops
    if stop and stop_again and here.ends[stop - 1] == there.ends[stop_again - 1] <= same:
        return _split_cause(tokenizer, here, there, at, stops)  # the bytes differ later
    if not is_complete(here.data) and _is_malformed(here.data, same):
        return "unfinished character"
    is_at_an_end = at == 0 or stops == (len(here.ids), len(there.ids))
    change = here.text_of(at, stop), there.text_of(at, stop_again)
    return _changed_text(tokenizer, here, there, change, is_read=is_read, is_at_an_end=is_at_an_end)


def _special_cause(
    tokenizer: Tokenizer, here: _Side, there: _Side, *, is_read: bool
) -> Cause | None:
    """The cause where it is the special token that ends the part; None if it is another."""
    if list(here.ids) == list(there.ids):
        return "special token"
    if is_read and here.special != there.special and here.special is not None:
        # The receiver does without it (`refuse`), or it stands for unknown text.
        return "special token" if is_boundary(tokenizer, here.special) else "normalizer"
    for one, other in ((here, there), (there, here)):
        rest = one.text[len(other.text) :] if one.text.startswith(other.text) else ""
        if other.name and rest.startswith(other.name):
            return "special token"
    return None


def _changed_text(
    tokenizer: Tokenizer,
    here: _Side,
    there: _Side,
    change: tuple[str, str],
    *,
    is_read: bool,
    is_at_an_end: bool,
) -> Cause:
    """The cause where the two texts differ.

    Args:
        tokenizer: of both.
        here, there: the part in both lists.
        change: the texts of their first difference. Others may follow it.
        is_read: see `first_difference`.
        is_at_an_end: whether the part begins or ends with the change.
    """
    texts = (here.text, there.text)
    if is_read:
        blank_alike = any("".join(a.split()) == "".join(b.split()) for a, b in (texts, change))
        return "strip" if blank_alike else "normalizer"
    if here.text == there.text:
        return "strip"  # the tokenizer reads a space before a text, and leaves it out again
    for text, other in (texts, change) if is_at_an_end else (texts,):
        if text.strip() == other.strip():
            # Between two special tokens the template writes; at the end of a turn the model does.
            is_between = not here.text.strip()
            return "template" if is_between or len(other) > len(text) else "strip"
    if any(_is_normalized(tokenizer, text, other) for text, other in (texts, change)):
        return "normalizer"
    return "template"


def _is_normalized(tokenizer: Tokenizer, text: str, other: str) -> bool:
    """Whether a normalizer makes `other` of `text`, or one of Unicode's normal forms does."""
    structure = tokenizer.structure()
    if structure is not None and structure.normalize and structure.normalize(text) == other:
        return True
    return any(
        unicodedata.normalize(form, text) == unicodedata.normalize(form, other)
        for form in ("NFC", "NFKC")
    )


def _split_cause(
    tokenizer: Tokenizer, here: _Side, there: _Side, at: int, stops: tuple[int, int]
) -> Cause:
    """The cause where the same characters are split into other tokens."""
    structure = tokenizer.structure()
    added = frozenset() if structure is None else frozenset(structure.added_tokens.values())
    stop, stop_again = stops
    if not added.isdisjoint((*here.ids[at:stop], *there.ids[at:stop_again])):
        return "special token"  # an added token was spelled by ordinary ones
    if structure is None or not structure.pretokenizer:
        return "bpe"
    try:
        splitter = splitter_for(structure.pretokenizer)
    except Unsupported:
        return "bpe"
    return "pretokenizer" if _reaches_over(splitter, here, at, stop) else "bpe"


def _reaches_over(splitter: Splitter, side: _Side, start: int, stop: int) -> bool:
    """Whether one of the tokens from `start` to `stop` reaches over an end of a part."""
    text, data = side.text, side.text.encode()
    first = len(side.data) - len(data)  # a dummy prefix is a byte that has no text
    edges = [0, *side.ends][start : stop + 1]
    low, high = (
        len(data[: max(edge - first, 0)].decode(errors="ignore")) for edge in (edges[0], edges[-1])
    )
    before = first + len(text[:low].encode())
    cuts = {before + len(text[low:end].encode()) for end in splitter.ends_between(text, low, high)}
    return any(not cuts.isdisjoint(range(a + 1, b)) for a, b in pairwise(edges))


def _end(here: _Side, there: _Side, at: int) -> tuple[int, int]:
    """Where the tokens from `at` on, which differ, end: at the next edge that both sides have.

    Counted in tokens. Where the bytes differ, where both go on with some equal tokens, or else at
    their last common ones.
    """
    n, m = at, at
    while n < len(here.ends) and m < len(there.ends):
        a, b = here.ends[n], there.ends[m]
        n, m = n + (a <= b), m + (b <= a)
        if a == b:
            if here.data[:a] == there.data[:a]:
                return n, m
            break
    if (changed := next_change(here.ids[at:], there.ids[at:])) is not None:
        return at + changed[0], at + changed[1]
    tail = 0
    most = min(len(here.ids), len(there.ids)) - at
    while tail < most and here.ids[-1 - tail] == there.ids[-1 - tail]:
        tail += 1
    return len(here.ids) - tail, len(there.ids) - tail


def _is_malformed(data: bytes, at: int) -> bool:
    """Whether the bytes around a place, which are not whole characters, are malformed."""
    # Wherever a character begins, what follows is read alike, so a few bytes are enough.
    begin = max(0, at - _NEAR)
    begin += len(data[begin : begin + 3]) - len(data[begin : begin + 3].lstrip(_CONTINUATIONS))
    near, at = data[begin : at + _NEAR], at - begin
    while True:
        try:
            near.decode()
        except UnicodeDecodeError as error:
            if error.start <= at <= error.end + 3:
                return True
            if error.end >= at:
                return False
            near, at = near[error.end :], at - error.end
        else:
            return False


def _decoded(tokenizer: Tokenizer, ids: Sequence[int]) -> str:
    if not ids:
        return ""
    check = list_check_at_hand(tokenizer)
    return tokenizer.decode(ids) if check is None else check.decode(ids)


def _spelled(tokenizer: Tokenizer, ids: Sequence[int]) -> str:
    data = b"".join(tokenizer.token_bytes(i) or special_name(tokenizer, i).encode() for i in ids)
    return data.decode(errors="replace")
