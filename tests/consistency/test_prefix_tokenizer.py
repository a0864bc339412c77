"""A growing text against the encoding of the whole."""

import random
from itertools import chain

import pytest

import ticore
from benchmarks.verification.seams import SeamCases
from tests.support.random_added_tokens import Added, Model
from tests.support.tokenizers import (
    FRAGMENTS,
    REAL,
    TRAINED,
    byte_level_with_added,
    byte_level_with_digits_apart,
)
from ticore.consistency import PrefixTokenizer
from ticore.errors import SettingsError

WITH_ADDED = {**TRAINED, "added": byte_level_with_added}


def test_a_growing_text_has_the_ids_of_the_whole():
    forked = False
    for name, opened in sorted(WITH_ADDED.items()):
        tokenizer = opened()
        cases, draw = SeamCases(tokenizer, FRAGMENTS, f"2 {name}"), random.Random(name)
        for _ in range(12):
            prefix, whole, ids = PrefixTokenizer(tokenizer), "", []
            for _ in range(draw.randrange(1, 9)):
                text = cases.text(4)
                whole += text
                change = prefix.append(text)
                ids[len(ids) - change.removed :] = change.ids
                assert ids == list(prefix.ids) == tokenizer.encode(whole), f"{name}: {whole!r}"
                assert prefix.text == whole
                assert len(prefix) == len(ids)
                if draw.random() < 0.3:
                    forked, other = True, prefix.fork()
                    other.append(cases.text(9))  # leaves the first one as it is
        assert forked


@pytest.mark.parametrize("kind", ["gpt2", "cl100k", "marks"])
def test_a_text_grows_into_added_tokens_that_reach_over_words(kind):
    """One that has begun hides the cuts inside it, and may take the place of a shorter one."""
    rules = ((b" ", b"a"), (b"a", b"b"), (b".", b"."))
    added = ("<a>", "b.a", "b.a.b", "ab b", "a.")
    tokenizer, draw = Model(kind, rules, tuple(map(Added, added))).open(), random.Random(kind)
    for _ in range(60):
        prefix, whole = PrefixTokenizer(tokenizer), ""
        for text in draw.choices([*"ab .<>", "b.", "ab", " a"], k=9):
            whole += text
            prefix.append(text)
            assert list(prefix.ids) == tokenizer.encode(whole), whole


def test_a_text_that_grows_by_ids_has_the_ids_that_compare_reads():
    for name, opened in sorted(WITH_ADDED.items()):
        tokenizer, draw = opened(), random.Random(name)
        kept = [i for i in tokenizer.special_ids if not tokenizer.token_bytes(i)]
        kept = [i for i in kept if i not in tokenizer.unknown_ids]
        cases = SeamCases(tokenizer, FRAGMENTS, f"3 {name}")
        for _ in range(8):
            lists = [tokenizer.encode(cases.text(4)) for _ in range(3)]
            if not tokenizer.unknown_ids.isdisjoint([*chain(*lists)]):
                continue
            if kept:
                lists.insert(draw.randrange(4), [draw.choice(kept)])
            prefix = PrefixTokenizer(tokenizer)
            for ids in lists:
                for part in (ids[: len(ids) // 2], ids[len(ids) // 2 :]):
                    prefix.append_ids(part)
            prefix.append("")  # ends a character that is not whole
            found = ticore.compare(tokenizer, [*chain(*lists)])
            assert (prefix.ids, prefix.text) == (found.again, found.text), (name, lists)


def test_digits_that_come_later_may_change_the_line_ends_before_them():
    tokenizer = byte_level_with_digits_apart()
    prefix = PrefixTokenizer(tokenizer)
    for text in ("a\n\n1", "23", "\n\n12", "3"):
        prefix.append(text)
        assert list(prefix.ids) == tokenizer.encode(prefix.text)


@pytest.mark.parametrize("name", ["sp-bpe-nfkc", "sp-unigram-nfkc", "t5"])
def test_ids_keep_their_space_after_a_text_that_has_no_ids(name):
    tokenizer = {**TRAINED, **REAL}[name]()
    assert tokenizer.encode("\n") == []
    turn = tokenizer.encode("a the")[len(tokenizer.encode("a")) :]
    prefix = PrefixTokenizer(tokenizer, "\n")
    prefix.append_ids(turn)
    assert prefix.text == "\n the"
    assert list(prefix.ids) == tokenizer.encode("\n the")


def test_ids_inside_a_character_wait_for_the_rest():
    tokenizer = TRAINED["gpt2"]() if "gpt2" in TRAINED else next(iter(TRAINED.values()))()
    single = {tokenizer.token_bytes(i): i for i in range(tokenizer.vocab_size)}
    prefix = PrefixTokenizer(tokenizer, "a")
    lead, rest = single[b"\xc3"], single[b"\xa9"]
    assert prefix.append_ids([lead]) == (0, ())
    fork = prefix.fork()
    assert prefix.held == fork.held == (lead,)
    prefix.append_ids([rest])
    fork.append("b")
    assert (prefix.text, fork.text) == ("aé", "a\ufffdb")
    assert list(prefix.ids) == tokenizer.encode("aé")


@pytest.mark.parametrize("refused", ["\ud800", "a\udfff"])
def test_a_refused_text_leaves_no_trace(refused):
    prefix = PrefixTokenizer(TRAINED["hf-gpt2"](), "a b")
    before = prefix.text, prefix.ids
    with pytest.raises(SettingsError):
        prefix.append(refused)
    assert (prefix.text, prefix.ids) == before


def test_ids_whose_text_the_tokenizer_refuses_leave_no_trace(monkeypatch):
    tokenizer = TRAINED["hf-gpt2"]()
    prefix, plain = PrefixTokenizer(tokenizer, "a b"), PrefixTokenizer(tokenizer, "a b")
    ids = tokenizer.encode(" cold 🙂")
    with monkeypatch.context() as patch:
        patch.setattr(tokenizer, "encode", refuse)
        with pytest.raises(SettingsError):
            prefix.append_ids(ids)
        with pytest.raises(SettingsError):
            prefix.append(" c")
    assert (prefix.text, prefix.ids) == (plain.text, plain.ids)
    prefix.append_ids(ids)
    plain.append_ids(ids)
    assert (prefix.text, prefix.ids) == (plain.text, plain.ids)


def refuse(text):
    raise SettingsError("too long")
