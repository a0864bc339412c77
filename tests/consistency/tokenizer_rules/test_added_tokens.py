"""Added tokens: what ordinary ones must not spell, and where only the tokenizer knows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.random_bpe import MODES, Bpe, check_after_tokens, engine_of, few_characters
from ticore.consistency import Verifier
from ticore.consistency._engines import build, retokenizing
from ticore.consistency._tokenizer_rules.added_tokens import AddedTokens, Texts
from ticore.consistency._unsupported import Unsupported

any_mode = pytest.mark.parametrize("mode", MODES)
either_engine = pytest.mark.parametrize("pattern", ["", "gpt2"])
letters = st.text(st.sampled_from("abé"), min_size=1, max_size=4)


def beginnings(texts, text):
    """How added tokens begin with which a text ends, and what completes each."""
    cut = ((other[:n], other[n:]) for other in texts for n in range(1, len(other)))
    return {(beginning, rest) for beginning, rest in cut if text.endswith(beginning)}


@given(texts=st.lists(letters, unique=True, max_size=4), text=letters)
def test_beginnings_at_end_are_all_with_which_a_text_ends(texts, text):
    added = AddedTokens({text: n for n, text in enumerate(texts)}, [])
    expected = {beginning for beginning, _ in beginnings(texts, text)}
    found = added.beginnings_at_end(text)
    assert set(found) == expected
    assert len(found) == len(expected)
    assert added.ends_in_beginning(text) == bool(expected)
    assert added.longest_beginning >= max(map(len, expected), default=0)


@given(texts=st.lists(letters, unique=True, max_size=4), text=letters)
def test_occurs_in_finds_an_added_token_in_a_text(texts, text):
    added = AddedTokens({text: n for n, text in enumerate(texts)}, [])
    assert added.occurs_in(text) == any(other in text for other in texts)


@given(texts=st.lists(letters | st.sampled_from("]^-[\\"), max_size=6), text=st.text("abé]^-[\\"))
def test_found_in_gives_all_texts_from_left_to_right(texts, text):
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
def test_completing_gives_the_ids_that_complete_an_added_token(texts, text, spelled):
    added = AddedTokens({text: n for n, text in enumerate(texts)}, spelled)
    rests = tuple(rest.encode() for _, rest in beginnings(texts, text))
    expected = [n for n, data in enumerate(spelled) if data.startswith(rests)]
    assert added.completing(text).tolist() == expected
    assert [n for n, data in enumerate(spelled) if added.is_completed(text, data)] == expected


@given(
    texts=st.lists(letters, unique=True, max_size=4),
    text=letters,
    unfinished=st.sampled_from([b"\xc3", b"a"]),
    spelled=st.lists(letters.map(str.encode), min_size=1),
)
def test_completing_goes_on_with_unfinished_bytes(texts, text, unfinished, spelled):
    spelled = [*spelled, *(data[1:] for data in spelled)]
    added = AddedTokens({text: n for n, text in enumerate(texts)}, spelled)
    expected = [n for n, d in enumerate(spelled) if added.is_completed(text, unfinished + d)]
    assert added.completing(text, unfinished).tolist() == expected


@given(spelled=st.lists(st.binary(max_size=3), min_size=1), data=st.binary(min_size=1, max_size=2))
def test_starting_with_gives_the_ids_whose_bytes_begin_with_the_data(spelled, data):
    added = AddedTokens({"x": 0}, spelled)
    expected = [n for n, other in enumerate(spelled) if other.startswith(data)]
    assert sorted(added.starting_with(data).tolist()) == expected


def test_added_tokens_find_nothing_when_there_are_none():
    added = AddedTokens({}, [b"a"])
    assert added.beginnings_at_end("a") == ()
    assert not added.occurs_in("a")


@pytest.mark.slow
@any_mode
@either_engine
@pytest.mark.parametrize("kind", ["special", "added"])
def test_engine_refuses_ordinary_tokens_that_spell_an_added_token(mode, pattern, kind):
    words = (b"<|", b"|>", b"<", b"|", b"x", b">", b"x|>y")
    model = Bpe(pattern=pattern, ranks=tuple((word, 0) for word in words), **{kind: ("<|x|>",)})
    for history in ([b"<|"], [b"<|", b"x"], [b"<|", b"x", b"|"], [b"<|", b"<|", b"x"]):
        check_after_tokens(model, mode, *history)


@any_mode
@either_engine
def test_engine_answers_rightly_for_an_added_token_of_one_character(mode, pattern):
    """Its byte does not come either, nor do tokens that hold it."""
    model = Bpe(pattern=pattern, added=("<",), ranks=((b"a", 0), (b"a<", 0), (b"<", 0)))
    check_after_tokens(model, mode, b"a")


@any_mode
def test_engine_answers_rightly_for_an_added_token_that_bytes_spell(mode):
    check_after_tokens(Bpe(added=("<",), more=(b"a",)), mode, b"a")


@pytest.mark.parametrize("added", [("い",), ("bい",)])
def test_bytes_that_complete_an_added_token_are_refused_after_refused_ones(added):
    """In mode `prefix` the first bytes of a character are refused, and what follows may recover."""
    tokenizer = Bpe(pattern="gpt2", added=added).open()
    bytes_ = {tokenizer.token_bytes(i): i for i in range(len(added), tokenizer.vocab_size)}
    engine, oracle = engine_of(tokenizer, "prefix")
    state, ids = engine.start(), []
    for byte in "bい".encode():
        state, before = engine.step_if_admitted(state, bytes_[bytes([byte])]), state
        ids.append(bytes_[bytes([byte])])
        assert (state is not None) == oracle.may_begin(ids)
        if state is None:
            state = engine.step_if_refused(before, ids[-1])
    assert not oracle.may_begin(ids)


@any_mode
@either_engine
def test_engine_answers_rightly_for_an_added_token_that_overlaps_itself(mode, pattern):
    """Of nnn the first two are found: the third one is free."""
    check_after_tokens(Bpe(pattern=pattern, added=("nn",), more=(b"n",)), mode, b"nn")


@any_mode
@either_engine
def test_engine_answers_rightly_for_added_tokens_that_overlap(mode, pattern):
    """Of abs the first one is found."""
    check_after_tokens(
        Bpe(pattern=pattern, added=("ab", "bs"), more=(b"a", b"b", b"s")), mode, b"ab"
    )


@any_mode
@either_engine
def test_engine_normalizes_nothing_across_an_added_token(mode, pattern):
    ranks = tuple((text.encode(), 0) for text in ("n\u0303", "\u0303", "n"))
    model = Bpe(pattern=pattern, added=("nn",), normal_form="NFC", ranks=ranks)
    check_after_tokens(model, mode, b"nn")


@any_mode
def test_engine_admits_an_added_token_after_the_dummy_prefix_alone(mode):
    """Its text is read as the prefix and the token, though no text is read as the prefix alone."""
    model = Bpe(added=("<x>",), more=(b"a",), dummy_prefix=True)
    check_after_tokens(model, mode)
    if mode == "viable":
        check_after_tokens(model, mode, b" ")


NESTED = {
    pattern: Bpe(pattern=pattern, added=("<|x", "<|x|>"), ranks=((b"|>", 0), (b"|", 0), (b">", 0)))
    for pattern in ("", "gpt2")
}


@pytest.mark.slow
@any_mode
@either_engine
def test_engine_answers_rightly_when_an_added_token_begins_another(mode, pattern):
    """The longer one is found, also where the shorter one's id and ordinary tokens spell it."""
    with few_characters():
        assert Verifier(NESTED[pattern].open(), mode=mode).method == "table"
    for method in ("table", "suffix"):
        check_after_tokens(NESTED[pattern], mode, b"<|x", method=method)
        check_after_tokens(NESTED[pattern], mode, b"<|x", b"|", method=method)


def test_table_engine_refuses_added_tokens_when_spaces_are_dropped():
    tokenizer = Bpe(added=("<x>",), squeezes=True).open()
    with pytest.raises(Unsupported, match="spaces are dropped, perhaps after added tokens too"):
        build.table_engine(retokenizing.Oracle(tokenizer))


def test_are_in_reads_a_text_once_when_there_are_thousands_of_texts():
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
