"""Where a list of tokens and its retokenisation differ: source and consequential tokens.

Every token has a byte span in the text. A token of the list whose span is no span of the
retokenised list is a source inconsistent token (SIT); the reverse is a consequential one (CIT).
(Yan & Murawaki, section 3.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate, pairwise

from ..interfaces import Tokenizer

Span = tuple[int, int]


@dataclass(frozen=True)
class Comparison:
    """A list of tokens beside what a receiver makes of its text.

    Attributes:
        ids: the list H.
        again: H' = encode(decode(H)).
        text: decode(H).
        spans, spans_again: byte spans (start, end) in the UTF-8 text, one for each id.
        sits: positions in `ids` of source inconsistent tokens.
        cits: positions in `again` of consequential inconsistent tokens.
    """

    ids: tuple[int, ...]
    again: tuple[int, ...]
    text: str
    spans: tuple[Span, ...]
    spans_again: tuple[Span, ...]
    sits: tuple[int, ...]
    cits: tuple[int, ...]

    @property
    def consistent(self) -> bool:
        """H == H'. There can be inconsistency without any SIT or CIT: equal spans, other ids."""
        return self.ids == self.again


def compare(tokenizer: Tokenizer, ids: Sequence[int]) -> Comparison:
    """Retokenise `ids` and find the inconsistent tokens on both sides."""
    text = tokenizer.decode(ids)
    again = tokenizer.encode(text)
    spans, spans_again = (_spans(tokenizer, side, text.encode()) for side in (ids, again))
    there, here = set(spans_again), set(spans)
    return Comparison(
        ids=tuple(int(i) for i in ids),
        again=tuple(again),
        text=text,
        spans=spans,
        spans_again=spans_again,
        sits=tuple(n for n, span in enumerate(spans) if span not in there),
        cits=tuple(n for n, span in enumerate(spans_again) if span not in here),
    )


def _spans(tokenizer: Tokenizer, ids: Sequence[int], text: bytes) -> tuple[Span, ...]:
    """Byte spans of `ids` in `text`, whose tokens spell it up to a space, repairs or folding."""
    pieces = [tokenizer.token_bytes(i) for i in ids]
    spelled = b"".join(pieces)
    ends = list(accumulate(map(len, pieces), initial=0))
    if spelled == text:
        places = ends
    elif spelled == b" " + text:  # The dummy prefix, which decode takes away.
        places = [max(0, end - 1) for end in ends]
    else:
        places = _mapped(ends, spelled, text)
    return tuple(pairwise(places))


def _mapped(ends: list[int], spelled: bytes, text: bytes) -> list[int]:
    """Offsets in `spelled` carried over to `text` where decode or encode changed some bytes.

    Malformed UTF-8 has become U+FFFD, a normaliser may have folded characters. Outside such
    places offsets correspond exactly; inside, they are spread evenly, which keeps their order.
    """
    blocks = SequenceMatcher(None, spelled, text, autojunk=False).get_opcodes()
    places, block = [], 0
    for end in ends:
        while block < len(blocks) - 1 and end > blocks[block][2]:
            block += 1
        tag, a, b, c, d = blocks[block] if blocks else ("equal", 0, 0, 0, 0)
        if tag == "equal":
            places.append(c + end - a)
        else:
            places.append(c + (end - a) * (d - c) // (b - a) if b > a else d)
    # What was added at either end belongs to the tokens there.
    return [0, *places[1:-1], len(text)] if len(places) > 1 else places
