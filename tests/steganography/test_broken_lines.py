"""Lines that a program broke at a width are joined as they were before."""

from __future__ import annotations

import re
import textwrap
from unicodedata import east_asian_width

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.broken_lines import cut, wrapped
from ticore.steganography._broken_lines import flowed, uncut, unwrapped

WORDS = st.lists(st.text("ab.", min_size=1, max_size=6), min_size=1, max_size=12)
WIDE = "第二天他们离开了地方"
MIXED = st.text("第二天他ab é…。、 \n-", max_size=80)


@given(st.lists(WORDS, min_size=1, max_size=4), st.integers(6, 20))
def test_wrapped_words_give_the_text_but_for_line_ends_that_look_wrapped(paragraphs, width) -> None:
    text = "\n".join(map(" ".join, paragraphs))
    joined, line_ends = unwrapped(wrapped(text, width))
    assert len(joined) == len(text)
    others = {at for at, character in enumerate(joined) if character != text[at]}
    assert others <= {begin for begin, end in line_ends if joined[begin:end] == " "}


@given(MIXED)
@example("a\n\nb")
@example("\n")
def test_only_line_ends_are_replaced(text) -> None:
    joined, line_ends = unwrapped(text)
    begins, ends = [0, *(end for _, end in line_ends)], [*(begin for begin, _ in line_ends), None]
    lines = [joined[begin:end] for begin, end in zip(begins, ends, strict=True)]
    assert lines == text.split("\n")
    assert {joined[begin:end] for begin, end in line_ends} <= {"\n", " ", ""}
    assert uncut(text).replace("\n", "") == text.replace("\n", "")


@pytest.mark.parametrize("join", [uncut, lambda text: unwrapped(text).text])
@given(paragraphs=st.lists(st.integers(0, 3), max_size=3), half=st.integers(3, 12), data=st.data())
def test_wide_characters_are_joined_without_spaces(join, paragraphs, half, data) -> None:
    """Where the last line of each paragraph is visibly shorter, and two lines show the width."""
    sizes = [half * full + data.draw(st.integers(1, half - 1)) for full in (2, *paragraphs)]
    text = "\n".join(data.draw(st.text(WIDE, min_size=size, max_size=size)) for size in sizes)
    for odd in (0, 1):
        assert join(cut(text, 2 * half + odd)) == text


@pytest.mark.parametrize(
    ("arrived", "sent"),
    [
        ("on \nSunday \nthey left.\nSo", "on Sunday they left.\nSo"),
        ("第二天 \n他们离开了。\n这个", "第二天他们离开了。\n这个"),
        ("使用者在 Linux \n上对 \n50 个", "使用者在 Linux 上对 50 个"),
    ],
)
def test_flowed_lines_keep_their_spaces_but_between_wide_characters(arrived, sent) -> None:
    assert flowed(arrived) == sent


TEXT = (
    "这是因为它自己的行为和能力是不可行的。因此，使用者在 Linux 上对软件 50 做了一点工作。"
    "我们想创建一个世界。"
)


@pytest.mark.parametrize("width", range(20, 50))
def test_words_among_wide_characters_are_cut_as_a_terminal_does(width: int) -> None:
    """Lines have other numbers of characters, but as many columns."""
    assert uncut(cut(TEXT, width)) == TEXT


def test_marks_that_close_do_not_begin_a_line() -> None:
    text = "它自己的行为和能力是可行的。因此，使用者做了一点工作。我们想创建世界。"
    arrived = "它自己的行为和能力是可行\n的。因此，使用者做了一点工\n作。我们想创建世界。"
    assert unwrapped(arrived).text == text


def test_marks_may_stand_beyond_the_end_of_a_line() -> None:
    text = "它自己的行为和能力是可行的。因此，使用者做了一点工作们。我们想创建世界。"
    arrived = "它自己的行为和能力是可行的。\n因此，使用者做了一点工作们。\n我们想创建世界。"
    assert unwrapped(arrived).text == text


@pytest.mark.parametrize("width", range(14, 40))
def test_korean_words_have_spaces_between_them(width: int) -> None:
    """Programs measure them by characters or by columns, and a terminal cuts them."""
    text = (
        "그는 오래된 집에 혼자 살았다. 아침마다 강가를 걸었고 저녁에는 책을 읽었다. "
        "아무도 그를 찾아오지 않았다."
    )
    assert unwrapped(wrapped(text, width)).text == text
    assert uncut(cut(text, width)) == text
    columns = wrapped(re.sub("[가-힣]", "xx", text), width).replace("xx", "x")
    shape = iter(text.replace(" ", ""))
    arrived = "".join(one if one in " \n" else next(shape) for one in columns)
    assert unwrapped(arrived).text == text


def test_long_runs_of_marks_take_a_time_that_grows_with_the_text_alone() -> None:
    text = f"第{'、' * 300_000}x\n二"
    assert unwrapped(text).text == uncut(text) == text.replace("\n", "")


def test_dashes_are_as_wide_as_fonts_have_them() -> None:
    text = "そうこの人には、あの人に知れた――その人には、おれが、この子の事を……出来ないのだなあ"
    assert east_asian_width("―") == "A"
    for marks in ("WF", "WFA"):
        for width in range(16, 32, 2):
            assert uncut(cut(text, width, marks)) == text


def test_a_single_full_line_is_whole_where_a_sentence_ends() -> None:
    assert uncut("我们想创建一个世界。\n他们说") == "我们想创建一个世界。\n他们说"
    assert uncut("我们想创建一个世界的\n他们说") == "我们想创建一个世界的他们说"
    assert uncut("The house is white.\nHe said so") == "The house is white.\nHe said so"
    assert uncut("The house is wh\nite and old") == "The house is white and old"


def test_a_word_that_was_broken_at_its_hyphen_gets_a_space() -> None:
    """Both may have stood there: the reading tells."""
    assert unwrapped("They came to Stow-\non-Sea").text == "They came to Stow- on-Sea"
    assert textwrap.fill("They came to Stow-on-Sea", 18) == "They came to Stow-\non-Sea"
