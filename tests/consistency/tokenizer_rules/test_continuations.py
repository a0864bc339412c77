"""What a text goes on with, where it completes added tokens; and the answers that depend on it."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.random_bpe import (
    Bpe,
    check_after_tokens,
    check_one_by_one,
    engine_of,
    few_characters,
)
from ticore.consistency._modes import AFTER_SPACE, CONTINUATIONS
from ticore.consistency._tokenizer_rules.continuations import Continuations
from ticore.consistency._unsupported import Unsupported
from ticore.interfaces import AddedTokenFlags

texts = st.text(st.sampled_from("a1.\n x\u0e3f"), min_size=1, max_size=4)
added_texts = st.lists(texts, unique=True, max_size=4)
unfinished = pytest.mark.parametrize("mode", ["open", "viable"])
# All continuations but line ends, after which the last of two spaces is not apart.
AFTER_TWO_SPACES = tuple(f"b  {text}" for text in CONTINUATIONS if not text.isspace())


def structure_of(added, flags=None):
    """The structure of a byte-level tokenizer with these added tokens."""
    structure = Bpe(pattern="gpt2", added=tuple(added)).open().structure()
    return replace(structure, added_flags=flags or {})


def first_in(text, added):
    """Where the leftmost added token begins; the length of the text if there is none."""
    return min((at for one in added if (at := text.find(one)) >= 0), default=len(text))


@given(added=added_texts, text=texts)
def test_excluded_continuations_are_those_with_which_an_added_token_begins_in_the_text(added, text):
    following = Continuations(structure_of(added), "viable")
    if first_in(text, added) < len(text):
        return  # no list has such a text since its last added token
    read = {more: more[: first_in(more, added)] for more in CONTINUATIONS}
    known = [more for more in CONTINUATIONS if read[more]]
    assert following.texts == tuple(read[more] for more in known)
    expected = {n for n, more in enumerate(known) if first_in(text + more, added) < len(text)}
    assert following.excluded(text) == expected


@given(added=added_texts, before=texts, text=texts)
def test_only_texts_inside_a_beginning_depend_on_the_text_before(added, before, text):
    following = Continuations(structure_of(added), "viable")
    if first_in(before + text, added) < len(before + text):
        return
    if following.excluded(before + text) != following.excluded(text):
        assert following.depend_on_text_before(text)


@given(added=added_texts, before=texts, text=texts)
def test_a_character_completes_an_added_token_that_begins_in_the_text_or_perhaps_before(
    added, before, text
):
    following = Continuations(structure_of(added), "open")
    whole = before + text
    if text[-1].isascii() or first_in(whole[:-1], added) < len(whole) - 1:
        return
    assert following.completes_added(text) == (first_in(text, added) < len(text))
    if following.completes_added(whole) and not following.completes_added(text):
        assert following.may_complete_added(text)


def test_no_continuation_is_left_before_an_added_token_that_takes_spaces():
    flags = {"\n": AddedTokenFlags(lstrip=True)}
    assert " " in Continuations(structure_of(["\n"]), "viable").texts
    assert " " not in Continuations(structure_of(["\n"], flags), "viable").texts


def test_nothing_follows_white_space_where_that_is_an_added_token():
    assert Continuations(structure_of(["x1"]), "viable").after_space == AFTER_SPACE
    assert not Continuations(structure_of(["1"]), "viable").after_space
    assert not Continuations(structure_of(["x1"]), "open").after_space


def test_an_added_token_of_white_space_beyond_ascii_and_a_digit_is_refused():
    added = structure_of(["x\u30001"])
    assert Continuations(added, "open")
    why = "the added token 'x\\u30001' may be completed by what a text goes on with"
    with pytest.raises(Unsupported, match=re.escape(why)):
        Continuations(added, "viable")


def test_engine_reads_a_text_as_ended_before_an_added_token_that_follows():
    """No continuation splits the two spaces: all that would begin with an added token."""
    ranks = ((b"  ", 0),)
    check_after_tokens(Bpe(pattern="gpt2", ranks=ranks), "viable", b" ")
    added = tuple(text for text in CONTINUATIONS if not text.isspace())
    check_after_tokens(Bpe(pattern="gpt2", ranks=ranks, added=added), "viable", b" ")


def test_engine_answers_depend_on_an_added_token_that_begins_before_the_last_token():
    model = Bpe(pattern="gpt2", ranks=((b"  ", 0),), added=AFTER_TWO_SPACES)
    check_one_by_one(model, "viable", [[b"b", b" "], [b"a", b" "], [b"b", b" "]])


def test_engine_answers_depend_on_a_longer_added_token_begun_by_an_added_one():
    model = Bpe(pattern="gpt2", ranks=((b"  ", 0),), added=("b", "c", *AFTER_TWO_SPACES))
    check_one_by_one(model, "viable", [[b"b", b" "], [b"c", b" "], [b"b", b" "]])


def test_engine_answers_depend_on_the_text_before_an_added_one():
    """The tokenizer is asked with the x too, from which the longest begun text reaches."""
    longer = (f"x{text}" for text in AFTER_TWO_SPACES)
    model = Bpe(pattern="gpt2", ranks=((b"  ", 0),), more=(b"x",), added=("b", "b !", *longer))
    check_one_by_one(model, "viable", [[b"x", b"b", b" "], [b"a", b"b", b" "]])


@unfinished
@pytest.mark.parametrize("pattern", ["", "gpt2"])
@pytest.mark.parametrize("added", [("い",), ("bい",), ("い!", "bい"), ("b", "bい"), ("bいい",)])
def test_engine_answers_rightly_about_the_bytes_of_an_added_token(mode, pattern, added):
    first, second, third = (bytes([byte]) for byte in "い".encode())
    model = Bpe(pattern=pattern, added=added, more=(b"a", b"b", b"!"))
    begun = [[], [first], [first, second]]
    whole = [[first, second, third]] if added == ("bいい",) else []
    histories = [[letter, *ids] for letter in (b"a", b"b") for ids in [*begun, *whole]]
    check_one_by_one(model, mode, histories, characters="いあ")


@unfinished
@pytest.mark.parametrize("added", [("い",), ("bい",), ("b", "bい"), ("bいい",)])
def test_engine_refuses_first_bytes_that_only_an_added_token_finishes(mode, added):
    """All characters but one are left out, so nothing else finishes the bytes."""
    model = Bpe(pattern="gpt2", added=added, ranks=(("い".encode()[:2], 0),))
    check_one_by_one(model, mode, [[b"a"], [b"b"], [b"a"]], characters="い")


@unfinished
def test_engine_answers_inside_a_character_depend_on_the_text_before(mode):
    """A sign may finish the first byte too, so the two lists differ in the text alone."""
    model = Bpe(pattern="gpt2", added=("abい",))
    first = "い".encode()[:1]
    check_one_by_one(model, mode, [[b"c", b"b", first], [b"a", b"b", first]], characters="い。")


@unfinished
def test_unsplit_engine_is_refused_where_no_other_character_has_the_first_bytes(mode):
    tokenizer = Bpe(added=("bい",), more=("あ".encode(),)).open()
    why = "'bい' ends in 'い', and no other character that begins with the same bytes"
    with few_characters("いあ"), pytest.raises(Unsupported, match=why):
        engine_of(tokenizer, mode)
