"""Added tokens: what ordinary ones must not spell, and where only the tokenizer knows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.consistency.random_bpe import MODES, Bpe, check_behind, few_characters
from ticore.consistency import Verifier, mask, oracle
from ticore.consistency.added import AddedTokens, Texts, obstacle
from ticore.consistency.modes import beginnings

any_mode = pytest.mark.parametrize("mode", MODES)
either_engine = pytest.mark.parametrize("pattern", ["", "gpt2"])
letters = st.text(st.sampled_from("abé"), min_size=1, max_size=4)


@given(texts=st.lists(letters, unique=True, max_size=4), text=letters)
def test_what_is_begun_is_the_rest_of_each_added_token(texts, text):
    added = AddedTokens({text: n for n, text in enumerate(texts)}, [])
    begun = {
        other[n:].encode()
        for other in texts
        for n in range(1, len(other))
        if text.endswith(other[:n])
    }
    assert set(added.begun(text)) == begun


@given(texts=st.lists(letters, unique=True, max_size=4), text=letters)
def test_what_occurs(texts, text):
    added = AddedTokens({text: n for n, text in enumerate(texts)}, [])
    assert added.occurs_in(text) == any(other in text for other in texts)


@given(texts=st.lists(letters | st.sampled_from("]^-[\\"), max_size=6), text=st.text("abé]^-[\\"))
def test_many_texts_are_found_at_once(texts, text):
    """Each at every place where it is; also in bytes."""
    places = range(len(text))
    expected = sorted(t for at in places for t in set(texts) if text.startswith(t, at))
    assert sorted(Texts(texts).found_in(text)) == expected
    assert Texts(texts).are_in(text) == bool(expected)
    in_bytes = Texts(t.encode() for t in texts).found_in(text.encode())
    assert sorted(found.decode() for found in in_bytes) == expected


@given(
    texts=st.lists(letters, unique=True, max_size=4),
    text=letters,
    spelled=st.lists(letters.map(str.encode), min_size=1),
)
def test_which_ids_complete_what_has_begun(texts, text, spelled):
    added = AddedTokens({text: n for n, text in enumerate(texts)}, spelled)
    rests = added.begun(text)
    expected = [n for n, data in enumerate(spelled) if data.startswith(tuple(rests))]
    assert added.has_begun(text) == bool(rests)
    assert added.completing(text).tolist() == expected
    assert [n for n, data in enumerate(spelled) if added.is_completed(text, data)] == expected


@given(spelled=st.lists(st.binary(max_size=3), min_size=1), data=st.binary(min_size=1, max_size=2))
def test_ids_whose_bytes_begin_so(spelled, data):
    added = AddedTokens({"x": 0}, spelled)
    expected = [n for n, other in enumerate(spelled) if other.startswith(data)]
    assert sorted(added.starting_with(data).tolist()) == expected


def test_none():
    added = AddedTokens({}, [b"a"])
    assert added.begun("a") == []
    assert not added.occurs_in("a")


@any_mode
@either_engine
@pytest.mark.parametrize("kind", ["special", "added"])
def test_ordinary_tokens_do_not_spell_one(mode, pattern, kind):
    words = (b"<|", b"|>", b"<", b"|", b"x", b">", b"x|>y")
    model = Bpe(pattern=pattern, ranks=tuple((word, 0) for word in words), **{kind: ("<|x|>",)})
    for history in ([b"<|"], [b"<|", b"x"], [b"<|", b"x", b"|"], [b"<|", b"<|", b"x"]):
        check_behind(model, mode, *history)


@any_mode
@either_engine
def test_an_added_token_that_is_one_character(mode, pattern):
    """Its byte does not come either, nor do tokens that hold it."""
    model = Bpe(pattern=pattern, added=("<",), ranks=((b"a", 0), (b"a<", 0), (b"<", 0)))
    check_behind(model, mode, b"a")


@any_mode
def test_an_added_token_whose_character_is_spelled_in_bytes(mode):
    check_behind(Bpe(added=("<",), more=(b"a",)), mode, b"a")


@any_mode
@either_engine
def test_an_added_token_that_overlaps_itself(mode, pattern):
    """Of nnn the first two are found: the third one is free."""
    check_behind(Bpe(pattern=pattern, added=("nn",), more=(b"n",)), mode, b"nn")


@any_mode
@either_engine
def test_added_tokens_that_overlap(mode, pattern):
    """Of abs the first one is found."""
    check_behind(Bpe(pattern=pattern, added=("ab", "bs"), more=(b"a", b"b", b"s")), mode, b"ab")


@any_mode
@either_engine
def test_a_normaliser_does_not_reach_across_one(mode, pattern):
    ranks = tuple((text.encode(), 0) for text in ("n\u0303", "\u0303", "n"))
    model = Bpe(pattern=pattern, added=("nn",), normal_form="NFC", ranks=ranks)
    check_behind(model, mode, b"nn")


@any_mode
def test_one_may_stand_behind_the_dummy_prefix_alone(mode):
    """Its text is read as the prefix and the token, though no text is read as the prefix alone."""
    model = Bpe(added=("<x>",), more=(b"a",), dummy_prefix=True)
    check_behind(model, mode)
    if mode == "viable":
        check_behind(model, mode, b" ")


NESTED = {
    pattern: Bpe(pattern=pattern, added=("<|x", "<|x|>"), ranks=((b"|>", 0), (b"|", 0), (b">", 0)))
    for pattern in ("", "gpt2")
}


@any_mode
@either_engine
def test_one_that_begins_another_is_left_to_the_tokenizer(mode, pattern):
    """The longer one is found, also where the shorter one's id and ordinary tokens spell it."""
    with few_characters():
        verifier = Verifier(NESTED[pattern].open(), mode)
    assert verifier.rung == "tail"
    assert verifier.why == "mask: the added token '<|x' is part of another one, '<|x|>'"
    check_behind(NESTED[pattern], mode, b"<|x", rung="tail")
    check_behind(NESTED[pattern], mode, b"<|x", b"|", rung="tail")


def test_a_special_one_may_be_part_of_another():
    """No list holds it anyway."""
    assert obstacle({"<|x": 1, "<|x|>": 2}, {1}, "prefix") == ""


def test_where_spaces_are_dropped_added_tokens_are_left_to_the_tokenizer():
    tokenizer = Bpe(added=("<x>",), squeezes=True).open()
    why = mask.table_engine(oracle.Oracle(tokenizer))
    assert why == "spaces are dropped, perhaps behind added tokens too"


@pytest.mark.parametrize("text", ["é", "<x>é", *sorted(f"<{end}" for end in beginnings())])
def test_one_that_what_follows_may_complete(text):
    why = f"the added token {text!r} may be completed by what a text goes on with"
    assert obstacle({text: 0}, (), "prefix") == ""
    assert obstacle({text: 0}, (), "open") == obstacle({text: 0}, (), "viable") == why


def test_the_search_goes_through_an_id_once_however_many_there_are():
    """One after the other, thousands in thousands of ids take minutes."""
    texts = [f"<|{n / 50:.2f}|>" for n in range(4000)]
    searched = 0

    class Counted(bytes):
        def __getitem__(self, part):
            nonlocal searched
            searched += 1
            return super().__getitem__(part)

    found = Texts(text.encode() for text in texts)
    ids = [Counted(f"word <{n}| {n}".encode()) for n in range(300)]
    assert not any(map(found.are_in, ids))
    assert 0 < searched <= 10 * len(ids)
