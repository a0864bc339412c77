"""A list that is read at once is the same as one whose tokens are pushed one by one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.random_added_tokens import added_models, tokens_to_compare
from tests.support.random_bpe import (
    MODES,
    byte_level,
    character_level,
    cuts_of,
    engine_of,
    few_characters,
    with_long_run,
    with_text,
)
from tests.support.tokenizers import TRAINED
from ticore.consistency import Verifier, _part
from ticore.consistency._unsupported import Unsupported
from ticore.consistency._verifier import Verification

picks = st.lists(st.integers(0, 999), max_size=6)
METHODS = ("table", "suffix", "retokenize")


def facts(verification):
    answers = verification.mask().tolist() if verification.admissible else None
    return (
        verification.ids,
        verification.consistent,
        verification.admissible,
        verification.unrecoverable,
        answers,
    )


def check(new, ids, more, tokens):
    """Compare both ways to begin with `ids`, then after more tokens, taken back one by one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_part, "_FEW", 1)
        at_once = new(ids)
    one_by_one = new([])
    for token in ids:
        one_by_one.push(token)
    assert facts(at_once) == facts(one_by_one)
    for pick in more:
        token = tokens[pick % len(tokens)]
        at_once.push(token)
        one_by_one.push(token)
        assert facts(at_once) == facts(one_by_one)
    for _ in more:
        at_once.rewind(1)
        one_by_one.rewind(1)
        assert facts(at_once) == facts(one_by_one)


def check_model(model, text, mode, method, damage, more):
    tokenizer, tokens = model.open(), model.ids_to_compare()
    ids = tokenizer.encode(text)
    for pick in damage:
        at = pick % (len(ids) + 1)
        ids[at : at + pick % 2] = [tokens[pick % len(tokens)]]
    with few_characters():
        try:
            engine, oracle = engine_of(tokenizer, mode, method)
        except Unsupported:
            return
        cuts = cuts_of(tokenizer)
        check(lambda given: Verification(engine, oracle, cuts, given), ids, more, tokens)


@settings(max_examples=40)
@given(
    drawn=with_text(byte_level() | character_level()) | with_long_run(byte_level()),
    mode=st.sampled_from(MODES),
    method=st.sampled_from(["table", "table", "suffix"]),
    damage=st.lists(st.integers(0, 999), max_size=2),
    more=picks,
)
def test_answers_are_the_same_for_random_tokenizers(drawn, mode, method, damage, more):
    check_model(*drawn, mode, method, damage, more)


@settings(max_examples=40)
@given(model=added_models(), choices=st.lists(st.integers(0, 999), max_size=30), more=picks)
def test_answers_are_the_same_for_random_added_tokens(model, choices, more):
    tokenizer = model.open()
    tokens = tokens_to_compare(tokenizer)
    if tokenizer.structure() is None:
        return
    engine, oracle = engine_of(tokenizer, "prefix")
    text = tokenizer.decode([tokens[choice % len(tokens)] for choice in choices])
    cuts = cuts_of(tokenizer)
    for ids in (tokenizer.encode(text), [tokens[choice % len(tokens)] for choice in choices]):
        check(lambda given: Verification(engine, oracle, cuts, given), ids, more, tokens)


CHAT = "<s>", "It's  a\n\n long  story, naïve 日本語。", "😀\tend", " of 12345 words"


@pytest.mark.parametrize("channel", ["identity", "strip"])
@pytest.mark.parametrize("specials", ["gaps", "text", "refuse"])
@pytest.mark.parametrize("name", ["sp-bpe", "sp-unigram", "hf-cl100k-nfc", "hf-llama"])
def test_a_chat_can_be_read_at_once(name, specials, channel):
    """Also a damaged one: what follows the damage is the same too."""
    tokenizer = TRAINED[name]()
    special = min(tokenizer.special_ids - getattr(tokenizer, "unknown_ids", frozenset()))
    verifier = Verifier(tokenizer, specials=specials, channel=channel)
    ids = [i for text in CHAT for i in (special, *tokenizer.encode(text))]
    tokens = [*[i for i in ids if i != special][:20], special]
    assert verifier.start([]).consistent
    for damaged in (ids, ids[1:], [*ids[:9], *ids[10:]], [*ids[:-4], ids[-4]], [*ids, special]):
        check(verifier.start, damaged, [3, 7, 20, 1], tokens)


@pytest.mark.parametrize("method", METHODS)
def test_a_prompt_is_encoded_once(method, monkeypatch):
    """And not once for each of its tokens."""
    tokenizer = TRAINED["hf-gpt2"]()
    verifier = Verifier(tokenizer, method=method)
    ids = tokenizer.encode("The quick brown fox jumps over the lazy dog. " * 20)
    texts = []
    encode = tokenizer.encode_one
    monkeypatch.setattr(tokenizer, "encode_one", lambda text: texts.append(text) or encode(text))
    assert verifier.start(ids).consistent
    assert len(texts) <= 2
