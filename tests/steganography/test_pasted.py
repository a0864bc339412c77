"""A text that programs changed on its way gives its message or an error, never another message."""

from __future__ import annotations

import html
import quopri
import re
import string
import textwrap
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from itertools import islice
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ticore
from tests.support.broken_lines import cut, wrapped
from tests.support.tiny_models import tiny_model
from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore.errors import ExtractionError, IncompleteMessageError, OutsidePoolError
from ticore.steganography import _pasted as pasted
from ticore.steganography._pasted import MOST_READINGS, readings

KEY = bytes(range(32))
CHANGES: dict[str, Callable[[str], str]] = {
    "identity": lambda text: text,
    "BOM": lambda text: f"\ufeff{text}",
    "space in front": lambda text: f" {text}",
    "line in front": lambda text: f"\n{text}",
    "name in front": lambda text: f"[12:03] Ann: {text}",
    "stripped": str.strip,
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "no-break spaces": lambda text: text.replace(" ", "\u00a0"),
    "quoted": lambda text: "\n".join(f"> {line}" for line in text.split("\n")),
    "curly": lambda text: text.replace('"', "\u201d").replace("'", "\u2019"),
    "dots": lambda text: text.replace("...", "\u2026").replace("--", "\u2014"),
    "NFD": lambda text: unicodedata.normalize("NFD", text),
    "wrapped": lambda text: "\n".join(
        textwrap.fill(
            line, 40, drop_whitespace=True, break_on_hyphens=False, break_long_words=False
        )
        for line in text.split("\n")
    ),
    "wrapped after spaces": lambda text: folded(text, 40),
    "cut at a width": lambda text: cut(text, 37),
    "blank lines": lambda text: text.replace("\n", "\n\n"),
    "quoted twice": lambda text: "\n".join(f">> {line}" for line in text.split("\n")),
    "quoted again": lambda text: "\n".join(f"> > {line}" for line in text.split("\n")),
    "quoted below a line": lambda text: f"Ann wrote:\n\n{QUOTED.sub('> ', text)}\n\nYes.",
    "quoted and wrapped": lambda text: QUOTED.sub("> ", wrapped(QUOTED.sub("> ", text), 45)),
    "page source": lambda text: html.escape(text).encode("ascii", "xmlcharrefreplace").decode(),
    "mail source": lambda text: quopri.encodestring(text.encode(), quotetabs=True).decode(),
    "invisible": lambda text: text.replace(" ", " \u200b", 1),
    "isolated": lambda text: text.replace(" ", " \u2068\u061c", 1).replace(" ", "\u2069 ", 2),
}


QUOTED = re.compile("^", re.MULTILINE)


def folded(text: str, width: int) -> str:
    """Lines wrapped as `fold -s` does: a space stays at the end of its line."""
    lines = []
    for whole in text.split("\n"):
        line = whole
        while len(line) > width:
            end = line.rfind(" ", 0, width) + 1 or width
            lines.append(line[:end])
            line = line[end:]
        lines.append(line)
    return "\n".join(lines)


@cache
def _english(prompt: str, view: str, codec: str = "arithmetic") -> ticore.Steganographer:
    return ticore.Steganographer(
        tiny_model(),
        key=KEY,
        prompt=prompt,
        view=view,
        codec=codec,
        entropy=np.random.default_rng(7).bytes,
    )


@cache
def _sent(prompt: str, view: str) -> tuple[str, bytes]:
    return _english(prompt, view).embed(b"noon").text, b"noon"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "view"),
    [
        *((name, "whole") for name in sorted(CHANGES.keys() - {"identity", "stripped"})),
        *((name, "continuation") for name in ("BOM", "name in front", "wrapped", "curly")),
    ],
)
def test_extract_pasted_undoes_usual_changes(name: str, view: str) -> None:
    prompt = '"I don\'t know," said the café owner... "Go'
    stego, (text, message) = _english(prompt, view), _sent(prompt, view)
    changed = CHANGES[name](text)
    assert changed != text or view == "continuation"
    found = stego.extract_pasted(changed)
    assert found.message == message
    # What stands in front is skipped, and is no change to the text.
    skipped = "front" in name or (name, view) == ("BOM", "whole")
    assert found.undone or skipped or changed == text


def test_a_number_that_was_cut_at_the_width_of_the_lines_is_read_whole() -> None:
    sent = "它有1.15.1199.13.1.1.19.21页\nand an end"
    arrived = sent.replace("13.1.1", "13.1\n.1")
    assert (("lines cut at a width",), sent) in readings(arrived, "")


def test_ligatures_of_a_printed_page_are_letters_again() -> None:
    sent = "The officer left first, in a flash of five stiff coffins"
    arrived = "The o\ufb03cer left \ufb01rst, in a \ufb02ash of \ufb01ve sti\ufb00 co\ufb03ns"
    assert (("ligatures",), sent) in readings(arrived, "The")


def test_lines_that_were_cut_at_a_width_are_joined_where_one_happens_to_end_in_a_space() -> None:
    """The line looks as if it had been wrapped there."""
    sent = '"Fo," said the man. "Go out at hand, but there is not a platform"'
    arrived = "\n".join(sent[at : at + 20] for at in range(0, len(sent), 20))
    assert arrived.count(" \n") == 1
    assert (("lines cut at a width",), sent) in readings(arrived, sent[:9])


def test_a_prompt_whose_line_ends_became_spaces_is_as_it_was_sent() -> None:
    sent = 'He said:\n"Go\nout at once"'
    arrived = f"Ann wrote: {sent}".replace("\n", " ")
    undone = ("line ends in the prompt", "what stood before the prompt")
    assert (undone, 'He said:\n"Go out at once"') in readings(arrived, 'He said:\n"Go')


@pytest.mark.parametrize("arrived", ["a\nb c", "a b c", "He wrote: a\nb c"])
def test_a_prompt_of_a_windows_file_is_as_it_was_sent(arrived: str) -> None:
    assert "a\r\nb c" in [reading for _, reading in readings(arrived, "a\r\nb")]


def test_a_row_of_line_ends_is_compared_with_a_prompt_in_one_way_alone() -> None:
    """Each could be one space or two: there are more ways than can be tried."""
    assert list(readings("a" + 100 * "\r\n", "a" + 100 * " " + "b")) == []


def test_a_message_after_a_prompt_of_a_windows_file_is_read() -> None:
    prompt = "It was\r\na cold day"
    random = np.random.default_rng(7).bytes
    stego = ticore.Steganographer(
        tiny_model(), key=KEY, prompt=prompt, view="whole", entropy=random
    )
    sent = stego.embed(b"noon").text
    for line_end in ("\n", " "):
        arrived = sent.replace("\r\n", line_end)
        assert stego.extract_pasted(arrived).message == b"noon"


def test_a_prompt_that_a_repair_changes_is_as_it_was_sent() -> None:
    prompt = "He said \u201cGo"
    found = readings(f"{prompt} out,\u201d and left", prompt)
    assert (("curly quotation marks",), f'{prompt} out," and left') in found


@pytest.mark.parametrize("word", ["x=FF", "x=E2=80", "\ud800=20"])
def test_what_only_looks_like_the_source_of_a_mail_stays(word: str) -> None:
    """Its bytes are no text."""
    found = list(readings(f"It was {word} there\r\n", "It"))
    assert (("other line ends",), f"It was {word} there\n") in found
    assert (("line ends after it",), f"It was {word} there") in found
    assert all("the source of a mail" not in undone for undone, _ in found)


def test_line_ends_after_a_text_are_left_out_beside_other_changes() -> None:
    sent = "The door was 'open'."
    arrived = sent.replace("'", "\u2019") + "\n\n"
    found = list(readings(arrived, "The"))
    assert (("line ends after it",), arrived.rstrip()) in found
    assert (("line ends after it", "curly quotation marks"), sent) in found


def test_white_space_lost_or_added_in_front_is_undone_where_no_prompt_was_sent() -> None:
    found = list(readings("\ufeff\u00a0\n and so", ""))
    assert (("white space at the beginning",), "and so") in found
    assert (("a space that was lost at the beginning",), " and so") in found


@pytest.mark.parametrize("width", [40, 60, 72])
def test_line_ends_of_the_prompt_are_known_where_lines_are_wrapped(width: int) -> None:
    """They need not be told from those of the lines."""
    prompt = '"I think so," said Mary.\n"And you'
    sent = f"{prompt} do not think so, and would not say anything of it to them.\nSo there."
    arrived = f"Ann wrote:\n{wrapped(sent, width)}"
    assert sent in [text for _, text in readings(arrived, prompt)]


def test_quoting_is_undone_as_often_as_all_lines_have_it() -> None:
    """In a time that grows with the text alone, however often that is."""
    arrived = ">> said Ann.\n>>\n> > > and left.\n"
    assert (("quoting by '> '",), "said Ann.\n\n> and left.\n") in readings(arrived, "said")
    assert (("quoting by '> '",), "x") in readings(">" * 500_000 + "x", "")


def test_a_blank_line_stays_where_the_line_before_it_is_as_long_as_those_that_were_cut() -> None:
    sent = f"{'It was a cold day at ' * 3}sea\n\nand they left."
    arrived = cut(sent, 22)
    assert "at sea\n\nand" in arrived
    assert (("lines cut at a width",), sent) in readings(arrived, sent[:9])


@pytest.mark.parametrize("ends", ['and smile:\n"I am', "on her sides.\nBut to", "the mouth.\n\nNo"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_line_ends_of_the_text_stay_where_lines_are_wrapped_after_spaces(
    ends: str, line_end: str
) -> None:
    """Their lines may be so long that the next word would not have fitted."""
    sent = f"He seemed to let him take that outdoors to take his pleasure with his face {ends} so"
    for width in range(12, 60):
        arrived = f"Ann wrote:\n{folded(sent, width)}\nRegards".replace("\n", line_end)
        found = [text for _, text in readings(arrived, sent[:9])]
        assert f"{sent}\nRegards" in found


def test_extract_pasted_undoes_two_changes_at_once() -> None:
    prompt = '"I don\'t know," said the café owner... "Go'
    stego, (text, message) = _english(prompt, "whole"), _sent(prompt, "whole")
    changed = CHANGES["quoted"](CHANGES["wrapped"](CHANGES["curly"](text))).replace("\n", "\r\n")
    assert changed != text
    assert stego.extract_pasted(changed).message == message


# Its texts hold all that is changed, also in the changed form.
ACUTE = "\u0301"
ACCENTED = (unicodedata.normalize("NFC", letter + ACUTE) for letter in string.ascii_letters)
PIECES = [
    *("a", "b", "e", "e\u0301", "ab", " ", " a", "\n", "\r\n", "\r", "\u00a0", '"', "'"),
    *("\u201c", "\u2019", ".", "...", "\u2026", "-", "--", "\u2014", ">", "> ", "\ufeff", "\u200b"),
    *("\u201d", "[", "]", ":", "A", "n", *"&#;=mpltgquoxwrYs0123456789BCDEF"),
    *(ACUTE, *(one for one in ACCENTED if len(one) == 1)),
]
AWKWARD = ToyTokenizer(PIECES)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(
    st.binary(max_size=3),
    st.lists(st.sampled_from(sorted(CHANGES)), min_size=1, max_size=3),
    st.sampled_from(["", "a", " b", 'a"']),
    st.sampled_from(["whole", "continuation"]),
    st.integers(0, 50),
)
@example(b"x", ["stripped"], "", "whole", 0)
def test_extract_pasted_never_gives_a_wrong_message(
    message: bytes, changes: list[str], prompt: str, view: str, seed: int
) -> None:
    stego = ticore.Steganographer(
        ToyModel(AWKWARD, seed=seed, sharpness=1.0),
        key=KEY,
        prompt=prompt,
        view=view,  # type: ignore[arg-type]
        disambiguation="basic",  # the others read these texts slowly
        finish="none",
        entropy=np.random.default_rng(seed).bytes,
    )
    text = stego.embed(message).text
    for name in changes:
        text = CHANGES[name](text)
    with suppress(ExtractionError):
        assert stego.extract_pasted(text).message == message


@given(st.text(st.sampled_from("ab \n\r\"'\u2019\u201c\u00a0\u2026>é\u0301-."), max_size=60))
@example(" ")
def test_readings_are_few_and_differ(text: str) -> None:
    for prompt in ("", "a"):
        found = [reading for _, reading in readings(text, prompt)]
        assert len(found) <= MOST_READINGS
        assert len({*found, text}) == len(found) + 1
        assert all(reading.startswith(prompt) for reading in found)


def test_extract_pasted_tries_few_readings_when_the_key_is_wrong() -> None:
    """Counted in tokens that the model reads."""
    prompt = '"I don\'t know," said the café owner... "Go'
    text, _ = _sent(prompt, "whole")
    model = _Counting(tiny_model())
    other = ticore.Steganographer(model, key=KEY[::-1], prompt=prompt)  # type: ignore[arg-type]
    with pytest.raises(ExtractionError):
        other.extract(CHANGES["CRLF"](text))
    once, model.pushed = model.pushed, 0
    with pytest.raises(ExtractionError):
        other.extract_pasted(CHANGES["CRLF"](text))
    assert model.pushed <= 4 * max(once, len(text) // 3)


class _Counting:
    """A model that counts the tokens it is given after prompts."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.pushed = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._model, name)

    def start(self, ids: list[int]) -> object:
        decoder = self._model.start(ids)
        push = decoder.push

        def counted(token: int) -> None:
            self.pushed += 1
            push(token)

        decoder.push = counted
        return decoder


def test_extract_pasted_names_usual_changes_only_when_the_text_was_changed() -> None:
    prompt = '"I don\'t know," said the café owner... "Go'
    stego, (text, _) = _english(prompt, "whole"), _sent(prompt, "whole")
    with pytest.raises(
        OutsidePoolError, match=r"cannot have been written there .*usual changes on"
    ) as edited:
        stego.extract_pasted(text[:60] + text[60:].replace("a", "u"))
    place = edited.value.place
    assert place is not None
    assert place.received_start == place.start
    wrong = ticore.Steganographer(tiny_model(), key=bytes(32), prompt=prompt)
    with pytest.raises(ExtractionError, match=r"key or password, the prompt or another") as caught:
        wrong.extract_pasted(text)
    assert "usual changes" not in str(caught.value)


@pytest.mark.slow
def test_extract_blames_the_key_when_the_length_exceeds_the_text() -> None:
    """Many wrong keys read a length that no text has; what to look at comes first."""
    model = ToyModel(ToyTokenizer(list("abcdefgh")), sharpness=0.5, context=200)
    random = np.random.default_rng(5).bytes
    text = ticore.Steganographer(model, key=KEY, finish="none", entropy=random).embed(b"").text
    said = []
    for n in range(30):
        with pytest.raises(ExtractionError) as caught:
            ticore.Steganographer(model, key=bytes([n] * 32)).extract(text)
        if isinstance(caught.value, IncompleteMessageError):
            said.append(str(caught.value))
    beyond = [each for each in said if "no text of this model holds more than" in each]
    assert len(beyond) >= 10  # one in two: a length byte says that another follows
    assert all(each.startswith("the key or password, the prompt or another") for each in beyond)


ALL_KINDS = (
    "> \u201cWell,\u201d said Ann\u2009\u2014 the o\ufb03ce =3D caf e\u0301 &amp; so\u200b on \r\n"
    "> and the next day \r\n> they left.\r\n\r\n"
)


def test_few_repairs_are_tried_where_the_prompt_is_missing() -> None:
    """Each looks at the whole text, and there are thousands of ways to combine them."""
    ticks = Ticks()
    assert list(readings(ALL_KINDS, "The morning", ticks)) == []
    assert 50 < ticks.count < 400
    with pytest.raises(Stopped):
        list(readings(ALL_KINDS, "The morning", Ticks(20)))
    stego = _english("The door", "whole")
    with pytest.raises(ExtractionError):
        stego.extract_pasted(ALL_KINDS)
    with pytest.raises(Stopped):
        stego.extract_pasted(ALL_KINDS, tick=Ticks(20))


def test_a_small_change_is_undone_in_texts_of_the_former_mode() -> None:
    """Without a mode both are read, and so both are mended."""
    settings: dict[str, Any] = {"key": KEY, "prompt": "The old house"}
    old = ticore.Steganographer(
        tiny_model(), mode="prefix", entropy=np.random.default_rng(3).bytes, **settings
    )
    new = ticore.Steganographer(tiny_model(), **settings)
    text = old.embed(b"noon").text
    for at in range(30, len(text) - 40, 9):
        changed = text[: at + 1] + text[at + 2] + text[at + 1] + text[at + 3 :]
        with suppress(ExtractionError):
            found = old.extract_pasted(changed)
            if found.undone and "exchanged" in found.undone[-1]:
                assert new.extract_pasted(changed) == found
                return
    pytest.fail("no change was undone")


def test_line_ends_are_looked_for_in_texts_of_the_former_mode() -> None:
    settings: dict[str, Any] = {"key": KEY, "prompt": '"No,"'}
    old = ticore.Steganographer(tiny_model(), mode="prefix", **settings)
    new = ticore.Steganographer(tiny_model(), **settings)
    modes = [
        [each.reader.agreement.mode for each in pasted._joined_after(stego._setup, '"No," he', [])]
        for stego in (old, new)
    ]
    assert modes == [["prefix"], ["viable", "prefix"]]


@pytest.mark.parametrize("disambiguation", ["basic", "mwis", "syncpool", "lookahead", "stepwise"])
def test_a_text_without_tokens_is_no_text_of_these_settings(disambiguation: str) -> None:
    tokenizer = ToyTokenizer(["", *"abcdefgh", "ab"])
    model = ToyModel(tokenizer, seed=2)
    stego = ticore.Steganographer(model, key=KEY, prompt="a", disambiguation=disambiguation)
    text = stego.embed(b"hi").text
    with pytest.raises(ExtractionError):
        stego.extract_pasted(text[:9] + "\u00e9" + text[10:])


def test_extract_pasted_undoes_one_small_change() -> None:
    prompt = '"I don\'t know," said the café owner... "Go'
    stego, (text, message) = _english(prompt, "whole"), _sent(prompt, "whole")
    undone = list[str]()
    for at in range(len(prompt) + 20, len(text) - 60, 60):
        changed = _one_small_change(text, text.index(" ", at))
        with suppress(ExtractionError):
            assert stego.extract(changed) == message
            continue
        with suppress(ExtractionError):
            found = stego.extract_pasted(changed)
            assert found.message == message
            undone.append(found.undone[-1])
            if len(undone) == 2:
                break
    assert len(undone) == 2
    assert all(re.search(r" at character \d+$", each) for each in undone)


def test_extract_pasted_undoes_one_wrong_letter() -> None:
    prompt = '"I don\'t know," said the café owner... "Go'
    stego, (text, message) = _english(prompt, "whole"), _sent(prompt, "whole")
    kinds = [("replaced", lambda a, b: "q" + b), ("exchanged", lambda a, b: b + a)]
    letters = re.finditer(r"(?<=[a-z])(?!q)([a-z])(?!\1)([a-z])", text[len(prompt) + 20 : -100])
    for (what, change), match in zip(kinds, islice(letters, 3, None, 9), strict=False):
        at = len(prompt) + 20 + match.start()
        changed = text[:at] + change(*match.groups()) + text[at + 2 :]
        found = stego.extract_pasted(changed)
        assert found.message == message
        assert re.search(rf"{what} at character \d+$", found.undone[-1])


def _one_small_change(text: str, at: int) -> str:
    """Around the space at a place."""
    before, after = text[:at], text[at + 1 :]
    kinds = (f"{before}, {after}", f"{before} {after[0].swapcase()}{after[1:]}", before + after)
    return kinds[at % 3]


@pytest.mark.parametrize("disambiguation", ["mwis", "stepwise"])
def test_extract_pasted_never_gives_a_wrong_message_after_a_small_change(
    disambiguation: str,
) -> None:
    model = ToyModel(ToyTokenizer([*"abcdABCD ,.\n", "ab", " a", " bc", ", ", "cd", " d"]), seed=3)
    stego = ticore.Steganographer(
        model,
        key=KEY,
        prompt="ab",
        top_k=6,
        disambiguation=disambiguation,
        security="compact",
        compress="deflate",
        pad="none",
        finish="none",
        entropy=np.random.default_rng(2).bytes,
    )
    random, read = Random(1), 0
    for n in range(6):
        message = bytes([n])
        text = stego.embed(message).text
        at = random.randrange(2, len(text) // 2)
        put = random.choice([f",{text[at]}", text[at].swapcase(), f".{text[at]}", ""])
        changed = text[:at] + put + text[at + 1 :]
        with suppress(ExtractionError):
            assert stego.extract_pasted(changed).message == message
            read += 1
    assert read >= 3


@pytest.mark.parametrize("numerics", ["same-stack", "portable"])
def test_one_small_change_is_undone_where_the_model_sees_a_window(numerics: str) -> None:
    model = ticore.load_model("tiny-en", dtype="float64")
    settings: Any = {"prompt": "The old house", "key": KEY, "window": 8, "numerics": numerics}
    stego = ticore.Steganographer(model, entropy=Random(1).randbytes, **settings)
    words = stego.embed(b"noon").text.split(" ")
    for at in range(8, len(words)):
        changed = " ".join([*words[:at], words[at] + ",", *words[at + 1 :]])
        try:
            stego.extract(changed)
        except OutsidePoolError:
            found = stego.extract_pasted(changed)
            assert found.message == b"noon"
            assert re.search(r" at character \d+$", found.undone[-1])
            return
        except ExtractionError:
            continue  # it may have been written so
    raise AssertionError("no change was noticed")


def test_a_run_of_spaces_is_read_at_once() -> None:
    """It took time with the square of its length: minutes."""
    text = "The old house zzz" + " " * 300_000 + "x"
    assert text not in [reading for _, reading in readings(text, "")]


class Stopped(Exception):
    pass


class Ticks:
    """A Tick that counts, and stops the work at one of its calls."""

    def __init__(self, last: int | None = None) -> None:
        self.count, self._last = 0, last

    def __call__(self) -> None:
        self.count += 1
        if self.count == self._last:
            raise Stopped


def test_extract_pasted_ends_wherever_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the first reading, in those without usual changes, and in those of single changes."""
    text, _ = _sent("The door", "whole")
    stego = _english("The door", "whole")
    altered = text[:120] + " qzx " + text[125:]
    read: list[int] = []
    decoder = type(stego._setup.model.start([1]))
    push = decoder.push

    def counted(self: Any, token: int) -> None:
        read.append(token)
        push(self, token)

    monkeypatch.setattr(decoder, "push", counted)
    whole = Ticks()
    with pytest.raises(OutsidePoolError):
        stego.extract_pasted(altered, tick=whole)
    passes = len(read)
    assert passes > 2 * len(stego._setup.model.tokenizer.encode(text))
    assert whole.count >= passes
    for last in (1, whole.count // 2, whole.count - 1):
        read.clear()
        with pytest.raises(Stopped):
            stego.extract_pasted(altered, tick=Ticks(last))
        assert len(read) <= last


@pytest.mark.parametrize("after", ["\n", "\r\n"])
def test_line_ends_after_a_text_that_ends_with_its_message_are_undone(after: str) -> None:
    """A file ends with a line end. The tokenizer merges it with what stands before."""
    pieces = ["a", "b", "ab", "ba", ".", " ", "\n", "\n\n", ".\n", "a\n", "b\n", " \n", "\r\n"]
    model = ToyModel(ToyTokenizer(pieces), seed=3)
    stego = ticore.Steganographer(
        model, key=KEY, prompt="ab", finish="none", entropy=Random(1).randbytes
    )
    undone = set()
    for number in range(30):
        text = stego.embed(bytes([number])).text
        found = stego.extract_pasted(text + after)
        assert found.message == bytes([number])
        undone |= {found.undone}
    assert (("line ends after it",) in undone) == (after == "\n")  # the other one merges with none
