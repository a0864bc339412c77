"""Where a list of tokens and its retokenisation differ: source and consequential tokens.

Every token has a byte span in the text. A token of the list whose span is no span of the
retokenised list is a source inconsistent token (SIT); the reverse is a consequential one (CIT).
(Yan & Murawaki, section 3.)

Special tokens are kept as they are, and each part between two of them is retokenised by itself: see
`ticore.consistency.boundaries`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import accumulate, pairwise

from ..interfaces import Tokenizer
from ..limits import checked_ids
from ..registry import as_tokenizer
from .boundaries import is_boundary, parts, special_name

Span = tuple[int, int]


@dataclass(frozen=True)
class Comparison:
    """A list of tokens beside what a receiver makes of its text.

    Attributes:
        ids: the list H.
        again: H': the special tokens of H, and encode(decode(part)) for each part between them.
        text: decode(H), which is the texts of the parts one after the other.
        spans, spans_again: byte spans (start, end) in the UTF-8 text, one for each id. A special
            token has an empty span at its place.
        sits: positions in `ids` of source inconsistent tokens.
        cits: positions in `again` of consequential inconsistent tokens.
        specials, specials_again: positions in `ids` and in `again` of the special tokens that are
            kept: as many, in the same order. They are neither SITs nor CITs.
        unknowns: positions in `ids` of special ids that are not kept, since they stand for text
            that the tokenizer does not know. That text is lost, even where the id comes back.
    """

    ids: tuple[int, ...]
    again: tuple[int, ...]
    text: str
    spans: tuple[Span, ...]
    spans_again: tuple[Span, ...]
    sits: tuple[int, ...]
    cits: tuple[int, ...]
    specials: tuple[int, ...] = ()
    specials_again: tuple[int, ...] = ()
    unknowns: tuple[int, ...] = ()

    @property
    def consistent(self) -> bool:
        """H == H', and no text is lost.

        There can be inconsistency without any SIT or CIT: equal spans, other ids.
        """
        return self.ids == self.again and not self.unknowns


def compare(tokenizer: Tokenizer | object, ids: Sequence[int]) -> Comparison:
    """Retokenise `ids` and find the inconsistent tokens on both sides.

    Args:
        tokenizer: any, or one of another library, see `ticore.registry.as_tokenizer`.
        ids: any list of its ids.

    Raises SettingsError for an id that the tokenizer does not have, and for what is no tokenizer.

    >>> import ticore
    >>> tokenizer = ticore.load_tokenizer("tiny-en")
    >>> beginning, end = 1, 2
    >>> found = compare(tokenizer, [beginning, *tokenizer.encode("It was late."), end])
    >>> found.text, found.consistent, found.specials
    ('It was late.', True, (0, 5))
    """
    tokenizer = as_tokenizer(tokenizer)
    given = _checked(ids, tokenizer.vocab_size)
    special = tokenizer.special_ids.intersection(given)
    boundaries = {token for token in special if is_boundary(tokenizer, token)}
    if boundaries:
        found = _joined(given, [_compare_part(tokenizer, p) for p in _cut(given, boundaries)])
    else:
        found = _compare_part(tokenizer, given)
    if special == boundaries:
        return found
    lost = special - boundaries
    return replace(found, unknowns=tuple(n for n, token in enumerate(given) if token in lost))


def _checked(ids: Sequence[int], size: int) -> list[int]:
    given = list(map(int, ids))
    if given and not 0 <= min(given) <= max(given) < size:
        checked_ids(given, size)  # which says what is wrong
    return given


def _cut(ids: list[int], boundaries: set[int]) -> list[list[int]]:
    return [ids[part.start : part.stop] for part in parts(ids, boundaries)]


def _joined(ids: list[int], found: Sequence[Comparison]) -> Comparison:
    """One Comparison of all parts of `ids`, with the special tokens between them."""
    again: list[int] = []
    spans: list[Span] = []
    spans_again: list[Span] = []
    sits: list[int] = []
    cits: list[int] = []
    specials: list[int] = []
    specials_again: list[int] = []
    at = 0  # bytes of text
    for number, part in enumerate(found):
        if number:
            specials.append(len(spans))
            specials_again.append(len(again))
            again.append(ids[len(spans)])
            spans.append((at, at))
            spans_again.append((at, at))
        sits += [len(spans) + n for n in part.sits]
        cits += [len(again) + n for n in part.cits]
        spans += [(at + start, at + end) for start, end in part.spans]
        spans_again += [(at + start, at + end) for start, end in part.spans_again]
        again += part.again
        at += len(part.text.encode())
    return Comparison(
        ids=tuple(ids),
        again=tuple(again),
        text="".join(part.text for part in found),
        spans=tuple(spans),
        spans_again=tuple(spans_again),
        sits=tuple(sits),
        cits=tuple(cits),
        specials=tuple(specials),
        specials_again=tuple(specials_again),
    )


def _compare_part(tokenizer: Tokenizer, ids: list[int]) -> Comparison:
    """The Comparison of a list without boundaries."""
    text = tokenizer.decode(ids) if ids else ""
    again = tokenizer.encode(text) if ids else []
    data = text.encode()
    spans = _spans([tokenizer.token_bytes(i) for i in ids], data)
    if again == ids:  # as mostly
        return Comparison(tuple(ids), tuple(ids), text, spans, spans, sits=(), cits=())
    # A special token that `encode` finds in a text covers its own name there.
    read = [tokenizer.token_bytes(i) or special_name(tokenizer, i).encode() for i in again]
    spans_again = _spans(read, data)
    there, here = set(spans_again), set(spans)
    return Comparison(
        ids=tuple(ids),
        again=tuple(again),
        text=text,
        spans=spans,
        spans_again=spans_again,
        sits=tuple(n for n, span in enumerate(spans) if span not in there),
        cits=tuple(n for n, span in enumerate(spans_again) if span not in here),
    )


def _spans(pieces: Sequence[bytes], text: bytes) -> tuple[Span, ...]:
    """Byte spans of tokens in `text`, which they spell up to a space, repairs or folding."""
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
