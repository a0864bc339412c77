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
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, chain, pairwise

import numpy as np

from .._support.checks import checked_ids, listed
from .._support.common_beginning import common_length
from .._support.notebooks import ShownInNotebooks
from ..chat import Transcript
from ..errors import PromptError, SettingsError, TicoreError
from ..interfaces import SpecialWritingTokenizer, Tokenizer
from ..registry import wrap
from ._alignment import matches
from ._boundaries import Specials, is_boundary, parts, specials_named
from ._causes import Cause, Difference, first_difference
from ._compared_part import ComparedPart
from ._engines.list_check import list_check, list_check_at_hand
from ._spans import Spans, characters_before
from ._transcripts import Reread, read_text, read_transcripts
from ._unsupported import Unsupported

# Characters. Libraries read as many faster as a batch: they keep no offsets, and may use threads.
_LONG = 1 << 14
# Characters. For so long a text it pays to make the tables of `list_check`.
_VERY_LONG = 1 << 20
# Characters. The pieces in these tables are words, so they come again where words are shorter, and
# not in Chinese: there they are clauses.
_LONG_WORD = 10


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
        first: the first difference of the lists, with its cause; None if they are equal.
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
    first: Difference | None = None

    @property
    def cause(self) -> Cause | None:
        """The cause of the first difference; None if the list is consistent.

        Unknown text, which is lost even where both lists are equal, counts as `normalizer`.
        """
        if self.first is not None:
            return self.first.cause
        return "normalizer" if self.unknowns else None

    @property
    def rate(self) -> float:
        """The share of tokens that differ: (|SIT| + |CIT|) / (|H| + |H'|), 0 to 1.

        Other ids with the same spans are not counted, so it is 0 for some inconsistent lists.
        """
        tokens = len(self.ids) + len(self.again)
        return (len(self.sits) + len(self.cits)) / tokens if tokens else 0.0

    @property
    def consistent(self) -> bool:
        """Whether H == H', and no text is lost.

        A list without SITs and CITs can still be inconsistent: equal spans, other ids.
        """
        return self.ids == self.again and not self.unknowns


def compare(
    tokenizer: Tokenizer | object,
    ids: Sequence[int],
    *,
    specials: Specials = "gaps",
    reread: Reread | None = None,
) -> Comparison:
    """Turn a list of tokens into text, read the text again, and show where the lists differ.

    Use it for one list, such as a rollout; `compare_batch` for many. To keep a list consistent
    while it grows, use `ticore.Verifier`.

    Args:
        tokenizer: the receiver's; any tokenizer that `ticore.wrap` accepts.
        ids: the token ids, special ones included.
        specials: what the receiver does with special tokens. `gaps`: it keeps them, and reads each
            part between two of them by itself. `text`: it has the text with their names, and finds
            them in it. `refuse`: it has the text without them.
        reread: what the receiver really has, if that is known: the ids that a trainer computed,
            the text that a chat template wrote, or a `Transcript`, the messages with the template
            that writes them. Then `specials` has no effect, and `again` is this list. Where its
            text is another one, the spans of both lists count in their own text, and `sits` and
            `cits` are the ids that differ in an alignment of the lists, which need not be the best
            one: after a change of more than 8,192 ids all differ. White space that a transcript's
            template writes after the end token of `ids` is left out.

    Returns:
        Both lists, their spans in the text, the inconsistent tokens of each, and the first
        difference with its cause.

    Raises:
        SettingsError: the tokenizer does not have one of the ids, `tokenizer` is not a tokenizer,
            or `specials` is unknown.
        ModelFilesError: a tokenizer of another library cannot be adapted exactly.
        PromptError: the template of a transcript does not write its messages.
        MissingExtraError: there is a transcript, and the package jinja2 is not installed.

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
    >>> found.consistent, len(found.sits), len(found.cits), found.cause
    (False, 2, 1, 'bpe')
    """
    specials = specials_named(specials)
    tokenizer = wrap(tokenizer)
    given = checked_ids(ids, tokenizer.vocab_size)
    if reread is not None:
        read = _read(tokenizer, given, reread)
        return _finished(tokenizer, _compare_reread(tokenizer, given, read), is_read=False)
    if specials == "text" and isinstance(tokenizer, SpecialWritingTokenizer):
        return _finished(tokenizer, _compare_written(tokenizer, given))
    cut = _cut(tokenizer, given, specials)
    return _finished(tokenizer, _joined(given, _compare_parts(tokenizer, cut)))


def compare_batch(
    tokenizer: Tokenizer | object,
    lists: Sequence[Sequence[int]],
    *,
    specials: Specials = "gaps",
    rereads: Sequence[Reread | None] | None = None,
) -> list[Comparison | TicoreError]:
    """`compare` of each of many lists, faster.

    Args:
        tokenizer, specials: as for `compare`.
        lists: the lists of ids.
        rereads: for each list its `reread`, or None.

    Returns:
        For each list its Comparison, or the error that `compare` raises.

    Raises:
        SettingsError: `tokenizer` is not a tokenizer, `specials` is unknown, or there are not as
            many `rereads` as lists.
        WrongTypeError: `lists` or `rereads` is no list.
        ModelFilesError: a tokenizer of another library cannot be adapted exactly.
        MissingExtraError: there is a transcript, and the package jinja2 is not installed.

    >>> import ticore
    >>> tokenizer = ticore.load_tokenizer("tiny-en")
    >>> good, bad = compare_batch(tokenizer, [tokenizer.encode("It was late."), [-1]])
    >>> good.consistent, type(bad).__name__
    (True, 'SettingsError')
    """
    specials = specials_named(specials)
    tokenizer = wrap(tokenizer)
    lists = listed(lists, "lists of token ids", "give [it]")
    rereads = [None] * len(lists) if rereads is None else rereads
    known = listed(rereads, "rereads", "give [it]")
    if len(known) != len(lists):
        raise SettingsError(
            f"rereads: expected one for each of {len(lists)} lists, found {len(known)}"
        )
    found: list[Comparison | TicoreError | None] = [None] * len(lists)
    written = read_transcripts(tokenizer, lists, known)
    if specials != "text":
        together = [n for n, reread in enumerate(known) if reread is None]
        for n, one in zip(
            together,
            _compare_together(tokenizer, [lists[n] for n in together], specials),
            strict=True,
        ):
            found[n] = one
    return [
        _compare_one(tokenizer, lists[n], specials, written.get(n, known[n]))
        if one is None
        else one
        for n, one in enumerate(found)
    ]


def _compare_one(
    tokenizer: Tokenizer,
    ids: Sequence[int],
    specials: Specials,
    reread: Reread | PromptError | None,
) -> Comparison | TicoreError:
    if isinstance(reread, PromptError):
        return reread
    try:
        return compare(tokenizer, ids, specials=specials, reread=reread)
    except TicoreError as error:
        return error


def _compare_together(
    tokenizer: Tokenizer, lists: Sequence[Sequence[int]], specials: Specials
) -> list[Comparison | None]:
    """The Comparison of each list; None of one that must be tried by itself."""
    given = list[list[int] | None]()
    for ids in lists:
        try:
            given.append(checked_ids(ids, tokenizer.vocab_size))
        except TicoreError:
            given.append(None)
    cuts = [[] if ids is None else _cut(tokenizer, ids, specials) for ids in given]
    try:
        all_parts = _compare_parts(tokenizer, list(chain(*cuts)))
    except TicoreError:  # one of the texts cannot be read
        return [None] * len(lists)
    edges = accumulate(map(len, cuts), initial=0)
    return [
        None if ids is None else _finished(tokenizer, _joined(ids, all_parts[start:stop]))
        for ids, (start, stop) in zip(given, pairwise(edges), strict=True)
    ]


def _finished(tokenizer: Tokenizer, found: Comparison, *, is_read: bool = True) -> Comparison:
    """A Comparison with what is lost, and with the first difference."""
    special = tokenizer.special_ids.intersection(found.ids)
    lost = {token for token in special if not is_boundary(tokenizer, token)}
    if lost:
        places = tuple(n for n, token in enumerate(found.ids) if token in lost)
        found = replace(found, unknowns=places)
    if found.ids == found.again:
        return found
    first = first_difference(
        tokenizer,
        found.ids,
        found.again,
        is_read=is_read,
        character_of=partial(_first_character, found),
    )
    return replace(found, first=first)


def _read(tokenizer: Tokenizer, ids: list[int], reread: Reread) -> list[int]:
    if isinstance(reread, Transcript):
        written = read_transcripts(tokenizer, [ids], [reread])[0]
        if isinstance(written, PromptError):
            raise written
        return written
    if not isinstance(reread, str):
        return checked_ids(reread, tokenizer.vocab_size)
    return read_text(tokenizer, reread)


def _compare_reread(tokenizer: Tokenizer, ids: list[int], again: list[int]) -> Comparison:
    """The Comparison of two lists, which may have different texts."""
    here, there = (_with_itself(tokenizer, tokens) for tokens in (ids, again))
    kept, kept_again = ([side.ids[n] for n in side.specials] for side in (here, there))
    found = replace(here, again=there.ids, spans_again=there.spans)
    if (here.text, kept) != (there.text, kept_again):
        sits, cits = _unaligned(ids, again)
        return replace(found, sits=sits, cits=cits, specials=(), specials_again=())
    sits = here.spans.positions_of_others(there.spans)
    cits = there.spans.positions_of_others(here.spans)
    specials, specials_again = (
        tuple(n for n in side.specials if is_boundary(tokenizer, side.ids[n]))
        for side in (here, there)
    )
    return replace(
        found,
        sits=tuple(n for n in sits if n not in here.specials),
        cits=tuple(n for n in cits if n not in there.specials),
        specials=specials,
        specials_again=specials_again,
    )


def _with_itself(tokenizer: Tokenizer, ids: list[int]) -> Comparison:
    """A list with its text and its spans, as if it were read back unchanged."""
    cut = [ids[part.start : part.stop] for part in parts(ids, tokenizer.special_ids)]
    texts = [tokenizer.decode(part) if part else "" for part in cut]
    return _joined(
        ids, [ComparedPart.of(tokenizer, p, text, p) for p, text in zip(cut, texts, strict=True)]
    )


def _first_character(found: Comparison, token: int) -> int:
    """Where the text of a token of `ids` begins in `text`, in characters."""
    if token == len(found.spans):
        return len(found.text)
    # A token that begins within a character is said to begin where the character does.
    return characters_before(found.text, found.spans[token][0])


def _unaligned(ids: list[int], again: list[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The positions in each list of the ids that have no partner in the other one."""
    start = common_length(ids, again)
    end = common_length(ids[start:][::-1], again[start:][::-1])
    here, there = range(start, len(ids) - end), range(start, len(again) - end)
    same, same_again = set[int](), set[int]()
    for found in matches(ids[start : here.stop], again[start : there.stop]):
        same.update(range(start + found.begin, start + found.begin + found.size))
        same_again.update(range(start + found.begin_b, start + found.begin_b + found.size))
    return (
        tuple(n for n in here if n not in same),
        tuple(n for n in there if n not in same_again),
    )


def _cut(tokenizer: Tokenizer, ids: list[int], specials: Specials) -> list[list[int]]:
    """The parts of a list between the special tokens that a receiver keeps."""
    special = tokenizer.special_ids.intersection(ids) if specials == "gaps" else ()
    boundaries = {token for token in special if is_boundary(tokenizer, token)}
    return [ids[part.start : part.stop] for part in parts(ids, boundaries)]


def _joined(ids: list[int], found: Sequence[ComparedPart]) -> Comparison:
    """One Comparison of all parts of `ids`, with the special tokens between them."""
    again, sits, cits = list[int](), list[int](), list[int]()
    specials, specials_again = list[int](), list[int]()
    at = 0  # tokens of `ids`
    for number, part in enumerate(found):
        if number:
            specials.append(at)
            specials_again.append(len(again))
            again.append(ids[at])
            at += 1
        if part.again != part.ids:
            sits += part.sits(at)
            cits += part.cits(len(again))
        at += len(part.ids)
        again += part.again
    spans = Spans.joined((part.places, part.size) for part in found)
    is_same = again == ids
    return Comparison(
        ids=tuple(ids),
        again=tuple(again),
        text="".join(part.text for part in found),
        spans=spans,
        spans_again=spans
        if is_same
        else Spans.joined((part.places_again, part.size) for part in found),
        sits=tuple(sits),
        cits=tuple(cits),
        specials=tuple(specials),
        specials_again=tuple(specials_again),
    )


def _compare_parts(tokenizer: Tokenizer, parts: Sequence[list[int]]) -> list[ComparedPart]:
    """Each of some lists without boundaries, and what is read from it."""
    check = list_check_at_hand(tokenizer)
    decode = tokenizer.decode if check is None else check.decode
    texts = [decode(ids) if ids else "" for ids in parts]
    return [
        ComparedPart.of(tokenizer, ids, text, again)
        for ids, text, again in zip(parts, texts, _encode(tokenizer, texts, parts), strict=True)
    ]


def _encode(tokenizer: Tokenizer, texts: list[str], parts: Sequence[list[int]]) -> list[list[int]]:
    """What a receiver reads from each text; nothing from that of an empty list."""
    length = sum(map(len, texts))
    if length < _LONG:
        return [tokenizer.encode(t) if ids else [] for t, ids in zip(texts, parts, strict=True)]
    kept = [False] * len(parts)
    if sum(text.count(" ") for text in texts) * _LONG_WORD >= length:
        kept = _survive(tokenizer, parts, make=length >= _VERY_LONG)
    asked = [bool(ids) and not survives for ids, survives in zip(parts, kept, strict=True)]
    found = iter(tokenizer.encode_batch([t for t, ask in zip(texts, asked, strict=True) if ask]))
    return [next(found) if ask else ids for ids, ask in zip(parts, asked, strict=True)]


def _survive(tokenizer: Tokenizer, parts: Sequence[list[int]], *, make: bool) -> list[bool]:
    """Whether each part is known to be read back as it is, from tables; False without tables.

    Args:
        tokenizer: the receiver's.
        parts: lists without boundaries.
        make: whether to make the tables if they are not at hand.
    """
    check = list_check_at_hand(tokenizer)
    if check is None and make:
        with suppress(Unsupported):
            check = list_check(tokenizer)
    if check is None:
        return [False] * len(parts)
    special = tokenizer.special_ids
    plain = [special.isdisjoint(ids) for ids in parts]
    asked = [ids for ids, ok in zip(parts, plain, strict=True) if ok]
    together = np.array([*chain(*asked)], dtype=np.int64)
    edges = accumulate(map(len, asked), initial=0)
    lists = [together[start:stop] for start, stop in pairwise(edges)]
    answers = iter(check.consistent(lists).tolist())
    return [ok and next(answers) for ok in plain]


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
