"""Where a list of tokens and its retokenization differ.

Every token covers a span of bytes in the text. A token of the list whose span no token of the
retokenization has is a source inconsistent token (SIT). A token of the retokenization whose span no
token of the list has is a consequential inconsistent token (CIT). (Yan & Murawaki, section 3.)

    list              | un | happ | iness |        SITs: happ, iness
    retokenization    | un | happiness |           CIT:  happiness

Special tokens stay as they are, and each part between two of them is retokenized by itself, unless
the receiver has them in the text, or has no special tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .._support.checks import checked_ids
from .._support.notebooks import ShownInNotebooks
from ..interfaces import SpecialWritingTokenizer, Tokenizer
from ..registry import wrap
from ._boundaries import Specials, is_boundary, parts, special_name, specials_named
from ._spans import Spans

# Characters. Libraries read as many faster as a batch: they keep no offsets, and may use threads.
_LONG = 1 << 14


@dataclass(frozen=True)
class Comparison(ShownInNotebooks):
    """A list of tokens, and the list that a receiver reads from its text.

    Attributes:
        ids: the list H.
        again: the receiver's list H'. It holds the special tokens of H, and encode(decode(part))
            for each part between them.
        text: decode(H), the texts of the parts one after the other.
        spans: for each id in `ids` its bytes (start, end) in the UTF-8 text. The span of a special
            token is empty.
        spans_again: the same for each id in `again`.
        sits: positions in `ids` of source inconsistent tokens.
        cits: positions in `again` of consequential inconsistent tokens.
        specials: positions in `ids` of the special tokens that the receiver keeps. They are never
            SITs.
        specials_again: positions in `again` of the same special tokens, in the same order. They
            are never CITs.
        unknowns: positions in `ids` of special ids for unknown text. The receiver does not keep
            them: the text is lost, even where the same id comes back.
    """

    ids: tuple[int, ...]
    again: tuple[int, ...]
    text: str
    spans: Spans
    spans_again: Spans
    sits: tuple[int, ...]
    cits: tuple[int, ...]
    specials: tuple[int, ...] = ()
    specials_again: tuple[int, ...] = ()
    unknowns: tuple[int, ...] = ()

    @property
    def consistent(self) -> bool:
        """Whether H == H', and no text is lost.

        A list without SITs and CITs can still be inconsistent: equal spans, other ids.
        """
        return self.ids == self.again and not self.unknowns


def compare(
    tokenizer: Tokenizer | object, ids: Sequence[int], *, specials: Specials = "gaps"
) -> Comparison:
    """Turn a list of tokens into text, read the text again, and show where the lists differ.

    Use it for one list, such as a rollout. To keep a list consistent while it grows, use
    `ticore.Verifier`.

    Args:
        tokenizer: the receiver's; any tokenizer that `ticore.wrap` accepts.
        ids: the token ids, special ones included.
        specials: what the receiver does with special tokens. `gaps`: it keeps them, and reads each
            part between two of them by itself. `text`: it has the text with their names, and finds
            them in it. `refuse`: it has the text without them.

    Returns:
        Both lists, their spans in the text, and the inconsistent tokens of each.

    Raises:
        SettingsError: the tokenizer does not have one of the ids, `tokenizer` is not a tokenizer,
            or `specials` is unknown.
        ModelFilesError: a tokenizer of another library cannot be adapted exactly.

    >>> import ticore
    >>> tokenizer = ticore.load_tokenizer("tiny-en")
    >>> start, end = 1, 2
    >>> found = compare(tokenizer, [start, *tokenizer.encode("It was late."), end])
    >>> found.text, found.consistent, found.specials
    ('It was late.', True, (0, 5))

    The same text can be written with other tokens, here letter by letter. A receiver reads the
    longer token:

    >>> ids = {tokenizer.token_bytes(i): i for i in range(tokenizer.vocab_size)}
    >>> found = compare(tokenizer, [ids[b" I"], ids[b"t"]])
    >>> found.consistent, len(found.sits), len(found.cits)
    (False, 2, 1)
    """
    specials = specials_named(specials)
    tokenizer = wrap(tokenizer)
    given = checked_ids(ids, tokenizer.vocab_size)
    special = tokenizer.special_ids.intersection(given)
    boundaries = {token for token in special if is_boundary(tokenizer, token)}
    if specials == "text" and isinstance(tokenizer, SpecialWritingTokenizer):
        found = _compare_written(tokenizer, given)
    elif specials == "gaps" and boundaries:
        found = _joined(given, _compare_parts(tokenizer, _cut(given, boundaries)))
    else:
        (found,) = _compare_parts(tokenizer, [given])
    if special == boundaries:
        return found
    lost = special - boundaries
    return replace(found, unknowns=tuple(n for n, token in enumerate(given) if token in lost))


def _cut(ids: list[int], boundaries: set[int]) -> list[list[int]]:
    return [ids[part.start : part.stop] for part in parts(ids, boundaries)]


def _joined(ids: list[int], found: Sequence[Comparison]) -> Comparison:
    """One Comparison of all parts of `ids`, with the special tokens between them."""
    again, sits, cits = list[int](), list[int](), list[int]()
    specials, specials_again = list[int](), list[int]()
    lengths = [len(part.text.encode()) for part in found]
    at = 0  # tokens of `ids`
    for number, part in enumerate(found):
        if number:
            specials.append(at)
            specials_again.append(len(again))
            again.append(ids[at])
            at += 1
        sits += [at + n for n in part.sits]
        cits += [len(again) + n for n in part.cits]
        at += len(part.ids)
        again += part.again
    return Comparison(
        ids=tuple(ids),
        again=tuple(again),
        text="".join(part.text for part in found),
        spans=Spans.joined((p.spans, n) for p, n in zip(found, lengths, strict=True)),
        spans_again=Spans.joined((p.spans_again, n) for p, n in zip(found, lengths, strict=True)),
        sits=tuple(sits),
        cits=tuple(cits),
        specials=tuple(specials),
        specials_again=tuple(specials_again),
    )


def _compare_parts(tokenizer: Tokenizer, parts: Sequence[list[int]]) -> list[Comparison]:
    """The Comparison of each of some lists without boundaries."""
    texts = [tokenizer.decode(ids) if ids else "" for ids in parts]
    return [
        _compare_part(tokenizer, ids, text, again)
        for ids, text, again in zip(parts, texts, _encode(tokenizer, texts, parts), strict=True)
    ]


def _encode(tokenizer: Tokenizer, texts: list[str], parts: Sequence[list[int]]) -> list[list[int]]:
    """What a receiver reads from each text; nothing from that of an empty list."""
    if sum(map(len, texts)) < _LONG:
        return [tokenizer.encode(t) if ids else [] for t, ids in zip(texts, parts, strict=True)]
    found = iter(tokenizer.encode_batch([t for t, ids in zip(texts, parts, strict=True) if ids]))
    return [next(found) if ids else [] for ids in parts]


def _compare_part(tokenizer: Tokenizer, ids: list[int], text: str, again: list[int]) -> Comparison:
    """The Comparison of a list without boundaries, whose `text` is read as `again`."""
    spelled = list(map(tokenizer.token_bytes, ids))
    # A special token that `encode` finds in a text covers the bytes of its name.
    read = (
        spelled
        if again == ids  # the usual case
        else [tokenizer.token_bytes(i) or special_name(tokenizer, i).encode() for i in again]
    )
    return _compared(ids, again, text, spelled, read)


def _compared(
    ids: list[int],
    again: list[int],
    text: str,
    spelled: Sequence[bytes],
    spelled_again: Sequence[bytes],
) -> Comparison:
    """The Comparison of two lists for a text, whose tokens are spelled as given."""
    data = text.encode()
    spans = Spans.of(spelled, data)
    if again == ids:
        return Comparison(tuple(ids), tuple(ids), text, spans, spans, sits=(), cits=())
    spans_again = Spans.of(spelled_again, data)
    return Comparison(
        ids=tuple(ids),
        again=tuple(again),
        text=text,
        spans=spans,
        spans_again=spans_again,
        sits=spans.positions_of_others(spans_again),
        cits=spans_again.positions_of_others(spans),
    )


def _compare_written(tokenizer: SpecialWritingTokenizer, ids: list[int]) -> Comparison:
    """The Comparison of a list whose special tokens stand in the text by their names."""

    def spelled(token: int) -> bytes:
        if token in special:
            return tokenizer.decode_with_specials([token]).encode()
        return tokenizer.token_bytes(token)

    special = tokenizer.special_ids
    text = tokenizer.decode_with_specials(ids)
    again = tokenizer.encode_with_specials(text)
    found = _compared(ids, again, text, [*map(spelled, ids)], [*map(spelled, again)])
    there = [*zip(ids, found.spans, strict=True)]
    here = [*zip(again, found.spans_again, strict=True)]
    kept = {(token, span) for token, span in {*there} & {*here} if token in special}
    return replace(
        found,
        specials=tuple(n for n, pair in enumerate(there) if pair in kept),
        specials_again=tuple(n for n, pair in enumerate(here) if pair in kept),
    )
