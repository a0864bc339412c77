"""Added tokens that are found only where no word stands beside them: the oracle's answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.random_bpe import few_characters
from tests.support.random_steps import byte_level_step, metaspace
from tests.support.random_tokenizers import JsonTokenizer, merges
from tests.support.slow import examples, few_or_many
from tests.support.verifier_answers import check_answers
from ticore.consistency import Mode, Verifier, compare, packed_masks
from ticore.consistency._engines.build import table_engine
from ticore.consistency._engines.retokenizing import Oracle
from ticore.consistency._engines.single_words import without_single_words
from ticore.consistency._unsupported import Unsupported

ADDED = (("<m>", ("special", "single_word")),)
BYTES = JsonTokenizer(
    "bytes",
    rules=((b"a", b"b"), (b" ", b"a"), (b">", b"a"), (b"m", b">"), (b"<", b"m")),
    more=(b"a<m>b",),
    pretokenizers=(byte_level_step(use_regex=False),),
    added=ADDED,
)
WORDS = JsonTokenizer(
    **{**vars(BYTES), "pretokenizers": (byte_level_step(use_regex=True),), "more": ()}
)
CHARACTERS = JsonTokenizer(
    "characters",
    rules=((b"a", b"b"), (b"m", b">"), (b"<", b"m")),
    more=tuple(c.encode() for c in "▁ab<m>_.é"),
    pretokenizers=(metaspace("first", split=False),),
    added=ADDED,
    decoder="llama",
    strips=True,
    byte_fallback=True,
)
UNIGRAM = JsonTokenizer(
    "unigram",
    scores=(*((c, -2.0) for c in "▁ab<m>_.é"), ("m>", -1.5), ("ab", -1.0)),
    pretokenizers=(metaspace("never", split=False),),
    added=ADDED,
    decoder="metaspace",
)
MODELS = {"bytes": BYTES, "words": WORDS, "characters": CHARACTERS, "unigram": UNIGRAM}

# Characters of words (with a mark and a joiner), others, one of several bytes and a newer one.
texts = st.lists(
    st.sampled_from([*"ab _.é中\u0301\u200d\n‿\U0001faf0", "<", "<m", "<m>", ">", "a b", "é\n"])
).map("".join)
modes = st.sampled_from(("prefix", "open", "viable"))


# Tokens that the model gives too, that overlap others or themselves, that hold spaces, that begin
# as others do, and of characters of several bytes.
_TEXTS = ("<m>", "ab", "a", "m>a", "><", "a a", "<a b>", "é", "é中", "b.", "bb", "<m>b", "1", "é\n")
_FLAGS = ("special", "normalized", "single_word")


@st.composite
def models(draw: st.DrawFn) -> JsonTokenizer:
    model = draw(st.sampled_from((*MODELS.values(), BYTES, WORDS)))
    changes = {}
    if model.model == "bytes" and draw(st.booleans()):
        changes |= draw(merges(of_bytes=True))
    if draw(st.booleans()):
        some = st.lists(st.sampled_from(_FLAGS), unique=True).map(lambda some: (*some,))
        flags = st.just(("single_word",)) | some
        added = st.lists(st.tuples(st.sampled_from(_TEXTS), flags), min_size=1, max_size=3)
        changes["added"] = tuple(dict(draw(added)).items())
    return JsonTokenizer(**{**vars(model), **changes})


@pytest.mark.parametrize("examples", few_or_many(10, examples(30, thorough=50)))
def test_verifier_equals_the_oracle(examples):
    @settings(max_examples=examples)
    @given(models(), modes, texts, st.lists(st.integers(0, 99), max_size=4))
    @example(BYTES, "prefix", "a<m>b", [])
    @example(BYTES, "viable", "a <m", [0, 95])
    @example(WORDS, "open", "<m>é", [95, 3])
    @example(replace(BYTES, added=(("<m>", ("single_word",)),)), "prefix", " y<m>>", [29])
    @example(replace(BYTES, added=(("bb", ("single_word",)),)), "viable", "<bbb", [4])
    @example(
        replace(WORDS, added=(("<m>", ()), ("<m>b", ("single_word",)))), "prefix", "<m>", [99, 30]
    )
    @example(replace(WORDS, added=(("m>a", ("single_word",)),)), "prefix", "", [])
    @example(replace(WORDS, added=(("é中", ("single_word",)),)), "viable", ".é中 é中b", [95])
    def check(model, mode, text, choices):
        check_answers(model, mode, text, choices)

    check()


@pytest.mark.parametrize("mode", ["prefix", "open", "viable"])
@pytest.mark.parametrize("name", MODELS)
def test_tables_are_used(name: str, mode: Mode):
    with few_characters():
        verifier = Verifier(MODELS[name].open(), mode=mode)
    assert verifier.method == "table", verifier.why


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("text", ["a<m>b", "a<m>", "<m>a", "_<m> ", "é<m>.", "a <m>b"])
def test_a_text_is_consistent_where_the_token_is_not_found(name: str, text: str):
    tokenizer = MODELS[name].open()
    ids = tokenizer.encode(text)
    assert tokenizer.special_ids.isdisjoint(ids)
    verification = Verifier(tokenizer).start()
    for token in ids:
        verification.push(token)
    assert verification.consistent
    assert Verifier(tokenizer).start(ids).consistent
    assert compare(tokenizer, ids).consistent


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("text", ["<m>", "a <m> b", ".<m>.", "a<m>b <m>", "é.<m>"])
def test_no_list_of_other_tokens_is_consistent_where_the_token_is_found(name: str, text: str):
    tokenizer, plain = MODELS[name].open(), replace(MODELS[name], added=()).open()
    assert not tokenizer.special_ids.isdisjoint(tokenizer.encode(text))
    ids = plain.encode(text)  # the added token has the last id, so all others are the same
    assert Verifier(plain).start(ids).consistent
    assert tokenizer.decode(ids) == text
    assert not Verifier(tokenizer).start(ids).consistent
    assert not compare(tokenizer, ids).consistent


def test_a_list_that_spells_a_token_recovers_where_a_word_follows():
    tokenizer = BYTES.open()
    *spelled, last = tokenizer.encode(".<m>b")
    prefix, viable = (
        Verifier(tokenizer, mode=mode).start(spelled) for mode in ("prefix", "viable")
    )
    assert not prefix.consistent
    assert not prefix.unrecoverable
    assert viable.admissible
    assert not viable.consistent
    for text in (prefix, viable):
        text.push(last)
        assert text.consistent


def with_added(*texts: str, special: bool = False):
    flags = ("special", "single_word") if special else ("single_word",)
    return replace(WORDS, added=tuple((text, flags) for text in texts)).open()


@pytest.mark.parametrize("mode", ["prefix", "open", "viable"])
@pytest.mark.parametrize("text", ["<m>", "ab", "a b", "é中", "<a b>", "><", "m>a"])
def test_tables_are_used_with_any_text(text: str, mode: Mode):
    with few_characters():
        assert Verifier(with_added(text), mode=mode).method == "table"


def test_a_list_may_hold_the_token_itself_where_no_word_stands_beside_it():
    tokenizer = with_added("<m>")
    (token,) = set(tokenizer.encode("<m>"))
    letter, space = tokenizer.encode("b ")
    text = Verifier(tokenizer).start([space, token])
    assert text.consistent
    assert text.admits([letter, space, token]).tolist() == [False, True, True]
    assert text.mask()[[letter, space, token]].tolist() == [False, True, True]
    assert not Verifier(tokenizer).start([letter]).admits([token])[0]


@pytest.mark.parametrize(
    ("added", "text", "matters"),
    [
        (("<m>",), "b <m>", True),
        (("<m>",), "b <m> ", False),  # cut at the token itself
        (("<m>",), "b<m>b", False),  # beside a word
        (("ab",), "b ab b b", True),  # a token of the model too
        (("<m>", "m>b"), "b <m>b b b", True),  # one may hide the other
        (("><>",), "b><>b", True),  # or itself
    ],
)
def test_an_occurrence_matters_until_a_character_follows(added, text: str, matters: bool):
    tokenizer = with_added(*added)
    engine = table_engine(Oracle(tokenizer))
    state = engine.start()
    for token in tokenizer.encode(text):
        state = engine.step(state, token)
    assert (state.occurrence is not None) == matters
    assert (engine.state_of(tokenizer.encode(text)).occurrence is not None) == matters


def test_the_tokenizer_is_not_asked_about_a_token_inside_a_word():
    """Hidden by its own letters, it is as good as any other text."""
    rules = (b"b", b"<"), (b"b<", b"m"), (b"b<m", b">")
    tokenizer = replace(BYTES, rules=rules, more=(), added=(("<m>", ("single_word",)),)).open()
    engine = table_engine(Oracle(tokenizer))
    inside, alone = tokenizer.encode(" b<m>")[-1], tokenizer.encode("<m>")[0]
    assert tokenizer.token_bytes(inside) == b"b<m>"
    assert engine.step(engine.start(), inside).occurrence is None
    assert engine.step(engine.start(), alone).occurrence is not None


def test_what_a_text_goes_on_with_has_no_table():
    tokenizer = replace(BYTES, added=(("\n", ("single_word",)),)).open()
    assert Verifier(tokenizer, mode="open").method == "table"
    verifier = Verifier(tokenizer, mode="viable")
    assert verifier.method == "retokenize"
    assert "may be all that a text goes on with" in verifier.why


def test_masks_of_texts_side_by_side_are_those_of_each():
    tokenizer = BYTES.open()
    verifier = Verifier(tokenizer)
    texts = [verifier.start(tokenizer.encode(text)) for text in ("ab", "a<m", "a<m>b", ".<", "")]
    rows = packed_masks(texts)
    bits = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")
    for text, row in zip(texts, bits, strict=True):
        assert row[: tokenizer.vocab_size].astype(bool).tolist() == text.mask().tolist()


def test_without_single_words_ids_are_the_same():
    """The library gives other added tokens new ids where one before them is left out."""
    model = replace(BYTES, added=(("<m>", ("single_word",)), ("<n>", ()), ("<o>", ("special",))))
    tokenizer = model.open()
    plain = tokenizer.without_single_words()
    assert plain.encode("<m> a<n>b") == [*tokenizer.encode("b<m>")[1:], *tokenizer.encode(" a<n>b")]
    assert plain.encode_batch(["a<n>", "<o>"]) == tokenizer.encode_batch(["a<n>", "<o>"])
    assert plain.special_ids == tokenizer.special_ids | set(tokenizer.encode("<m>"))
    assert plain.structure().added_tokens.keys() == {"<n>", "<o>"}
    assert plain.digest() != tokenizer.digest()


def test_an_adapter_that_cannot_leave_them_out_has_no_tables():
    with pytest.raises(Unsupported, match="cannot be asked without them"):
        without_single_words(object())
