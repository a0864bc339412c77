"""What a text may have been before it was copied, sent and pasted.

A message is authenticated, so a reader may try several readings of a text: a wrong one gives an
error and never a wrong message. Each reading undoes some of the changes that programs make on their
own, or one small change that a person made. Other words cannot be undone.
"""

from __future__ import annotations

import html
import quopri
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, combinations, islice, zip_longest
from typing import NamedTuple, Protocol

from .._support.ticks import Tick, no_tick
from ..errors import (
    AlteredTextError,
    ExtractionError,
    IncompleteMessageError,
    OutsidePoolError,
    SettingsError,
    TextPlace,
)
from ._broken_lines import Joined, flowed, uncut, unwrapped
from ._departure import furthest, in_received
from ._embedding import Progress
from ._jobs import Job, run_alone
from ._line_end_search import search_line_ends
from ._payload import Payload
from ._rereading import PassLimit, PassLimitError, Rereading
from ._sealed_reading import message_of, payload_of
from ._setup import Setup
from ._small_repairs import small_repairs
from ._typos import BACK, typos

MOST_READINGS = 24
_MOST_PLANS = 100  # of repairs, for a text; those that matter are the first ones
MOST_STEPS = 3  # tokens to read per character, for all readings; a token has about four characters
_PASSES_FOR_EDITS = 80  # of the model, beside those that read the text once

# Two characters may be one line end, and are no other spaces: a row of them is read in one way.
_SPACE = r"\r\n|(?!\r\n)\s"

_WRAPPED = "wrapped lines"
_LOST = "spaces in place of line ends"
_LINE_ENDS_AFTER = "line ends after it"
_USUAL = (
    "usual changes on the way are wrapped lines, other line ends, spaces or quotation marks, and "
    "text put before it"
)


@dataclass(frozen=True)
class Repair:
    """Undoes one change.

    Attributes:
        name: what is undone, in words.
        undo: gives the text without the change; a text without the change stays as it is.
    """

    name: str
    undo: Callable[[str], str]

    def changes(self, *texts: str) -> bool:
        """Whether one of these texts has the change."""
        return any(self.undo(text) != text for text in texts)


@dataclass(frozen=True)
class Recovered:
    """A message, and what had to be undone to read it.

    Attributes:
        message: as it was hidden.
        undone: the changes that were undone, in words; empty if the text was read as it is.
    """

    message: bytes
    undone: tuple[str, ...]


PayloadRead = tuple[Setup, Payload, tuple[str, ...]]
"""What read a text, the payload in it, and what had to be undone, in words."""


class Extract(Protocol):
    """`Steganographer.extract`."""

    def __call__(self, text: str, *, progress: Progress | None) -> bytes: ...


def recover(
    setup: Setup, extract: Extract, text: str, progress: Progress | None, tick: Tick
) -> Recovered:
    """The message of a text that was changed on its way: see `Steganographer.extract_pasted`.

    Args:
        setup: of the text.
        extract: reads a text.
        text: as it was received.
        progress: of the first reading.
        tick: called before each token that is read, of all readings.

    Raises:
        ExtractionError: no reading gives a message.
    """

    def first_progress(done: int, total: int) -> None:
        tick()
        if progress is not None:
            progress(done, total)

    try:
        return Recovered(extract(text, progress=first_progress), ())
    except ExtractionError as error:
        first = error
    if _is_part(first):
        raise first
    steps = PassLimit(MOST_STEPS * len(text) + 64, tick)
    left: dict[OutsidePoolError, tuple[str, ...]] = {}  # where readings left the possible texts
    if isinstance(first, OutsidePoolError):
        left[first] = ()
    for undone, reading in readings(text, setup.sent, tick):
        try:
            return Recovered(extract(reading, progress=steps.progress), undone)
        except OutsidePoolError as error:
            left[error] = undone
        except ExtractionError as error:
            if _is_part(error):
                raise
        except PassLimitError:
            break
    found = _with_other_line_ends(setup, text, steps, tick)
    if found is not None:
        reader, payload, undone = found
        return Recovered(run_alone(setup.model, message_of(reader, payload)), undone)
    if isinstance(first, AlteredTextError | IncompleteMessageError):
        raise first  # The text was written with these settings, but not under this key.
    if not left:
        raise type(first)(f"{first}; {_USUAL}; undoing them did not help")
    best = furthest(left)
    placed = in_received(best, text)
    edited = _edited(setup, placed.place, tick) if placed.place else None
    if edited is not None:
        return Recovered(edited.message, (*left[best], *edited.undone))
    read_with = f"; it was read with these undone: {', '.join(left[best])}" if left[best] else ""
    tried = f"{_USUAL}; undoing them, or one small change near that place, did not help"
    raise OutsidePoolError(f"{placed}{read_with}; {tried}", placed.place)


def payload_of_pasted(setup: Setup, text: str) -> Job[PayloadRead]:
    """As `payload_of`, and what had to be undone: usual changes alone, no single small one.

    Raises:
        ExtractionError: no reading gives a payload; of the text as it was received.
    """
    try:
        reader, payload = yield from payload_of(setup, text, None)
        return reader, payload, ()
    except ExtractionError as error:
        first = error
    steps = PassLimit(MOST_STEPS * len(text) + 64)
    for undone, reading in readings(text, setup.sent):
        try:
            reader, payload = yield from payload_of(setup, reading, steps.progress)
            return reader, payload, undone
        except ExtractionError:
            continue
        except PassLimitError:
            break
    found = _with_other_line_ends(setup, text, steps, no_tick)
    if found is None:
        raise first
    return found


def _is_part(error: ExtractionError) -> bool:
    """Whether a reading is right, but needs the other parts of its message."""
    return isinstance(error, IncompleteMessageError) and error.is_part


def _with_other_line_ends(
    setup: Setup, text: str, steps: PassLimit, tick: Tick
) -> PayloadRead | None:
    """The payload of a text in which line ends were moved or lost.

    Args:
        setup: of the text.
        text: as it was received.
        steps: what the other readings have left. If each that fails is searched, so is each of
            these, and they have no more than that.
        tick: called before each token that is read.
    """
    if setup.disambiguation.searches:
        tick = steps.count
    if setup.agreement.window is not None:
        return None  # the model would read a window again for each token
    repairs, _ = _characters_undone(text)
    # Other characters than line ends may be the text's own, as they are.
    plans = [[repair for repair in repairs if repair is _LINE_ENDS]]
    if repairs not in plans:
        plans.append(repairs)
    joined = [each for plan in plans for each in _joined_after(setup, text, plan)]
    # One mode after the other: beside each other they would share the passes of a search.
    for mode in dict.fromkeys(each.reader.agreement.mode for each in joined):
        of_mode = [each for each in joined if each.reader.agreement.mode == mode]
        with suppress(PassLimitError):
            found = search_line_ends([(each.reader, each.joined) for each in of_mode], tick)
            if found is not None:
                reader, (_, unsure), undone = of_mode[found.text]
                lost = any((begin, end) not in unsure for begin, end, _ in found.changes)
                return reader, found.payload, (*undone, *[_LOST] * lost)
    return None


class _JoinedText(NamedTuple):
    """A reading of a text whose line ends may be others.

    Attributes:
        reader: the setup of the text.
        joined: its lines, and where a program may have broken one.
        undone: what was undone, in words.
    """

    reader: Setup
    joined: Joined
    undone: tuple[str, ...]


def _joined_after(setup: Setup, text: str, repairs: Sequence[Repair]) -> Iterator[_JoinedText]:
    """The readings of a text after these repairs."""
    plain, mark = text, setup.sent
    for repair in repairs:
        plain, mark = repair.undo(plain), repair.undo(mark)
    whole, line_ends = unwrapped(plain)
    undone = [repair.name for repair in repairs] + [_WRAPPED] * (whole != plain)
    if whole == plain:
        line_ends = ()  # no program broke a line
    for more, reading in _beginnings(whole, mark, setup.sent):
        shift = len(reading) - len(whole)  # the prompt may have another length
        for reader in _reader_of_each_mode(setup, reading):
            first = len(reader.sent) - shift
            unsure = [(begin + shift, end + shift) for begin, end in line_ends if begin >= first]
            yield _JoinedText(reader, Joined(reading, tuple(unsure)), (*undone, *more))


def _reader_of_each_mode(setup: Setup, text: str) -> list[Setup]:
    """What may read a text: with openers, those of this text; none if none shows yet."""
    found: dict[str, Setup] = {}
    with suppress(ExtractionError):
        for reader, _ in setup.readers(text):
            found.setdefault(reader.agreement.mode, reader)
    return [*found.values()]


def _edited(setup: Setup, place: TextPlace, tick: Tick) -> Recovered | None:
    """The message of the text without one small change near a place, if that gives one."""
    found = (_edited_in_mode(each, place, tick) for each in _reader_of_each_mode(setup, place.text))
    return next(filter(None, found), None)


def _edited_in_mode(setup: Setup, place: TextPlace, tick: Tick) -> Recovered | None:
    """As `_edited`, in one mode."""
    try:
        once = len(setup.model.tokenizer.encode(place.text))
    except SettingsError:  # there are no tokens for some characters
        return None
    # With a window the model reads its tokens again for each token.
    most = (once + _PASSES_FOR_EDITS) * (setup.agreement.window or 1)
    rereading = Rereading(setup, PassLimit(most, tick))
    shift, where = 0, " of the text as it was read"
    if place.received_start is not None:
        shift, where = place.received_start - place.start, ""
    with suppress(PassLimitError):
        # First the text as it is: the others go on from there.
        with suppress(ExtractionError):
            return Recovered(rereading.message(place.text), ())
        first = max(len(setup.sent), place.start - BACK)
        misspelled = typos(place.text, rereading.tokens_before(place.text, first))
        # By turns: neither kind may use up all passes before the other has had its likeliest ones.
        turns = chain.from_iterable(zip_longest(small_repairs(place, len(setup.sent)), misspelled))
        for repair in filter(None, turns):
            with suppress(ExtractionError):
                message = rereading.message(repair.text)
                return Recovered(
                    message, (f"{repair.what} at character {repair.at + shift}{where}",)
                )
    return None


def readings(text: str, prompt: str, tick: Tick = no_tick) -> Iterator[tuple[tuple[str, ...], str]]:
    """Readings of `text` other than itself, the likeliest first: what was undone, and the result.

    At most MOST_READINGS, all different. If a prompt was sent, they all begin with it.

    Args:
        text: as it was received.
        prompt: what it began with when it was sent; empty if nothing is known.
        tick: called before each that is tried, also where none comes of it.
    """
    seen, count = {text}, 0
    for received, undone, repairs in _attempts(text):
        tick()
        repaired, mark = received, prompt
        for repair in repairs:
            # What changes a text changes the prompt in it.
            repaired, mark = repair.undo(repaired), repair.undo(mark)
        names = (*undone, *(repair.name for repair in repairs))
        for more, reading in _beginnings(repaired, mark, prompt):
            if reading in seen:
                continue
            seen.add(reading)
            yield (*names, *more), reading
            count += 1
            if count == MOST_READINGS:
                return


def _attempts(text: str) -> Iterator[tuple[str, tuple[str, ...], Sequence[Repair]]]:
    """Beginnings of `text`, what was left out at its end, and which repairs to try together.

    There are few, since a text without the prompt gives no reading, whatever is tried.

    Files end with a line end, which a tokenizer may merge with the last token.
    """
    ended = re.sub(r"\r?\n\Z", "", text), text.rstrip("\r\n")
    without = [part for part in dict.fromkeys(ended) if part != text]
    for part in without:
        yield part, (_LINE_ENDS_AFTER,), ()
    for repairs in islice(_plans(text), _MOST_PLANS):
        yield text, (), repairs
    for part in without:
        for repairs in islice(_plans(part), _MOST_PLANS):
            yield part, (_LINE_ENDS_AFTER,), repairs


def _plans(text: str) -> Iterator[Sequence[Repair]]:
    """Which repairs to try together: none, each alone, all, and then other combinations."""
    single, plain = _characters_undone(text)
    # A line that was cut after a space looks wrapped there: once joined, it hides the width.
    lines = [repair for repair in _OF_LINES if repair.changes(text, plain)]
    yield ()
    for repair in (*single, *lines):
        yield (repair,)
    yield single
    for repair in lines:
        yield (*single, repair)
    for size in range(len(single) - 1, 0, -1):
        for some in combinations(single, size):
            yield some
            for repair in lines:
                yield (*some, repair)


def _characters_undone(text: str) -> tuple[list[Repair], str]:
    """The repairs of characters that `text` may need, and the text after all of them."""
    repairs, plain = list[Repair](), text
    for repair in _OF_CHARACTERS:
        if repair.changes(text, plain):
            repairs.append(repair)
            plain = repair.undo(plain)
    return repairs, plain


def _beginnings(text: str, mark: str, prompt: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """The text from the prompt on; without a prompt, the text with other white space in front."""
    if prompt:
        names = list[str]()
        found = re.search(re.escape(mark), text)
        if found is None:
            # Its white space is known: line ends in it need not be told from those of the lines.
            spaced = f"(?:{_SPACE})".join(map(re.escape, re.split(_SPACE, mark)))
            found = re.search(spaced, text)
            names.append("line ends in the prompt")
        if found is not None:
            if found.start() > 0:
                names.append("what stood before the prompt")
            yield tuple(names), prompt + text[found.end() :]
        return
    yield (), text
    begun = text.lstrip(_IN_FRONT)
    if begun != text:
        yield ("white space at the beginning",), begun
    yield ("a space that was lost at the beginning",), f" {begun}"


def _unquoted(text: str) -> str:
    """The text without `> ` in front of its lines, as often as all lines have it."""
    lines = [line for line in text.split("\n") if line.strip()]
    depth = min((_quoting(line).count(">") for line in lines), default=0)
    return re.sub(rf"^(?:>[ \t]?){{0,{depth}}}", "", text, flags=re.MULTILINE)


def _quoting(line: str) -> str:
    """The `> `, as often as they come, that a line begins with."""
    found = _QUOTING.match(line)
    return found.group() if found else ""


def _of_mail(text: str) -> str:
    """The text that a mail has in its source: quoted-printable, RFC 2045, section 6.7."""
    if "=" not in text:
        return text
    try:
        return quopri.decodestring(text.encode()).decode()
    except UnicodeError:
        return text


def _apart(text: str) -> str:
    return text.replace("\u2026", "...").replace("\u2014", "--").replace("\u2013", "-")


_IN_FRONT = " \t\r\n\u00a0\ufeff\u200b\u200e\u200f"
_PLAIN_MARKS = str.maketrans(
    {
        **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
        **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
    }
)
_SPACES = re.compile("[\u00a0\u2000-\u200a\u202f\u205f]")
_QUOTING = re.compile(r"^(?:>[ \t]?)*", re.MULTILINE)
_LIGATURES = {code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)}
# Also marks of direction, which programs put around names and numbers.
_UNSEEN = re.compile("[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")

# The order matters: quoting is recognized by line ends, and wrapped lines by their spaces.
_LINE_ENDS = Repair("other line ends", lambda text: re.sub("\r\n?|\u2028|\u2029", "\n", text))
_OF_CHARACTERS = (
    _LINE_ENDS,
    Repair("the source of a mail", _of_mail),
    Repair("the source of a web page", html.unescape),
    Repair("invisible characters", lambda text: _UNSEEN.sub("", text)),
    Repair("no-break spaces", lambda text: _SPACES.sub(" ", text)),
    Repair("quoting by '> '", _unquoted),
    Repair("quoting of some lines by '> '", lambda text: _QUOTING.sub("", text)),
    Repair("curly quotation marks", lambda text: text.translate(_PLAIN_MARKS)),
    Repair("dashes and ellipses as single characters", _apart),
    Repair("ligatures", lambda text: text.translate(_LIGATURES)),
    Repair("decomposed characters", lambda text: unicodedata.normalize("NFC", text)),
    Repair("lines wrapped after spaces", flowed),
    Repair("spaces at the ends of lines", lambda text: re.sub(r"(?<![ \t])[ \t]+(?=\n)", "", text)),
)
_OF_LINES = (
    Repair(_WRAPPED, lambda text: unwrapped(text).text),
    Repair("lines cut at a width", uncut),
    Repair("blank lines between lines", lambda text: re.sub(r"\n\n", "\n", text)),
    Repair("line breaks in place of spaces", lambda text: re.sub(r" ?\n+ ?", " ", text)),
)
