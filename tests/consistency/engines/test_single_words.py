"""Added tokens that are found only where no word stands beside them: the oracle's answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.random_steps import byte_level_step, metaspace
from tests.support.random_tokenizers import JsonTokenizer, merges
from tests.support.verifier_answers import check_answers
from ticore.consistency import Mode, Verifier, compare, packed_masks
from ticore.consistency._engines.base import Unsupported
from ticore.consistency._engines.retokenizing import Oracle, RetokenizingEngine
from ticore.consistency._engines.single_words import History, with_single_words
from ticore.interfaces import AddedTokenFlags

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
    st.sampled_from([*"ab _.é中\u0301\u200d\n‿\U0001faf0", "<", "<m", "<m>", ">"])
).map("".join)
modes = st.sampled_from(("prefix", "open", "viable"))


@st.composite
def models(draw: st.DrawFn) -> JsonTokenizer:
    model = draw(st.sampled_from(tuple(MODELS.values())))
    if model.model == "bytes" and draw(st.booleans()):
        return JsonTokenizer(**{**vars(model), **draw(merges(of_bytes=True))})
    return model


@pytest.mark.parametrize("examples", [20, pytest.param(80, id="many", marks=pytest.mark.slow)])
def test_verifier_equals_the_oracle(examples):
    @settings(max_examples=examples)
    @given(models(), modes, texts, st.lists(st.integers(0, 99), max_size=4))
    @example(BYTES, "prefix", "a<m>b", [])
    @example(BYTES, "viable", "a <m", [0, 95])
    @example(WORDS, "open", "<m>é", [95, 3])
    def check(model, mode, text, choices):
        check_answers(model, mode, text, choices)

    check()


@pytest.mark.parametrize("mode", ["prefix", "open", "viable"])
@pytest.mark.parametrize("name", MODELS)
def test_tables_are_used(name: str, mode: Mode):
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


def test_other_added_tokens_are_not_known():
    """An adapter may state what no file of the library does."""
    tokenizer = BYTES.open()
    structure = tokenizer.structure()
    spelled, oracle = [b""] * tokenizer.vocab_size, Oracle(tokenizer)
    engine = RetokenizingEngine(oracle, None)
    others = {"é": structure.added_tokens["<m>"], "ab": tokenizer.encode("b")[0]}
    for text, token in others.items():
        flags = {text: AddedTokenFlags(single_word=True)}
        stated = replace(structure, added_tokens={text: token}, added_flags=flags)
        with pytest.raises(Unsupported, match="decides"):
            with_single_words(engine, stated, spelled, oracle)
    assert with_single_words(engine, replace(structure, added_flags={}), spelled, oracle) is engine


def test_masks_of_texts_side_by_side_are_those_of_each():
    tokenizer = BYTES.open()
    verifier = Verifier(tokenizer)
    texts = [verifier.start(tokenizer.encode(text)) for text in ("ab", "a<m", "a<m>b", ".<", "")]
    rows = packed_masks(texts)
    bits = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")
    for text, row in zip(texts, bits, strict=True):
        assert row[: tokenizer.vocab_size].astype(bool).tolist() == text.mask().tolist()


def test_a_long_list_is_remembered_whole():
    history = History()
    for token in range(200):
        assert history.ids() == list(range(token))
        assert history == History.of(range(token))
        history = history.and_then(token)
