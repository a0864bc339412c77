"""Which of many lists are consistent: the check against the definition."""

import random

import numpy as np
import pytest

from tests.support.random_added_tokens import Added, Model
from tests.support.tokenizers import TRAINED
from ticore.consistency._engines import list_check
from ticore.consistency._engines.list_check import ListCheck
from ticore.consistency._engines.retokenizing import Oracle

TEXTS = (
    "One, two. Three! It's 12 o'clock: (we'll go) <|endoftext|><s>a\n\nb\r\n  c\td - e",
    "nai\u0308ve na\u00efve \u212b Ж e\u0301\u0316 \u2581 x\u00a0y 日本語、テキスト。 😀! \ufffd",
    "don't 'tis 's' a's.b,c;d?e!f the The THE thing things, thing. thing! thing? thing-thing",
)


def some_lists(tokenizer, draw, count):
    """Lists of real tokens, of which most are consistent: cut, with one token replaced or split."""
    words = " ".join(TEXTS).split(" ")
    lists = []
    for _ in range(count):
        ids = tokenizer.encode(" ".join(draw.choices(words, k=draw.randrange(1, 12))))
        if ids and draw.random() < 0.5:
            at = draw.randrange(len(ids))
            change = draw.random()
            if change < 0.4:
                ids[at] = draw.randrange(tokenizer.vocab_size)
            elif change < 0.8:
                data = tokenizer.token_bytes(ids[at])
                cut = draw.randrange(len(data) + 1)
                halves = (data[:cut], data[cut:])
                ids[at : at + 1] = [
                    i for part in halves for i in tokenizer.encode(part.decode(errors="replace"))
                ]
            else:
                del ids[at:]
        lists.append(np.array(ids, dtype=np.int64))
    return lists


@pytest.mark.parametrize("together", [2, 16])
@pytest.mark.parametrize(
    "name",
    ["hf-gpt2", "hf-cl100k-nfc", "hf-o200k", "hf-two-splits", "hf-ignore-merges", "sp-bpe"],
)
def test_list_check_equals_the_definition(name, together, monkeypatch):
    monkeypatch.setattr(list_check, "_TOGETHER", together)
    tokenizer = TRAINED[name]()
    oracle, check = Oracle(tokenizer), ListCheck(tokenizer)
    draw = random.Random(name)
    for count in (1, 40, 40):  # later lists find pieces that are known
        lists = some_lists(tokenizer, draw, count)
        expected = [oracle.is_consistent(ids.tolist()) for ids in lists]
        assert check.consistent(lists).tolist() == expected
    assert 0 < sum(expected) < len(expected)


@pytest.mark.parametrize("kind", ["gpt2", "cl100k", "marks"])
def test_list_check_equals_the_definition_beside_added_tokens(kind):
    """What stands before one would join its text; others spell one, over a cut between words."""
    rules = ((b" ", b"<"), (b" ", b"!"), (b" ", b"a"), (b"a", b"b"), (b".", b"."))
    tokenizer = Model(kind, rules, (Added("<a>"), Added("b.a"), Added("ab b"))).open()
    oracle, check = Oracle(tokenizer), ListCheck(tokenizer)
    draw = random.Random(kind)
    texts = ("ab .<>", " <", " a", "ab", "..")
    written = [token for text in texts for token in tokenizer.encode(text)]
    ids = sorted({*written, *tokenizer.structure().added_tokens.values()})
    lists = [draw.choices(ids, k=draw.randrange(1, 6)) for _ in range(400)]
    expected = [oracle.is_consistent(one) for one in lists]
    assert check.consistent([np.array(one) for one in lists]).tolist() == expected
    assert 20 < sum(expected) < len(expected)


def test_list_check_reads_few_texts(monkeypatch):
    tokenizer = TRAINED["hf-gpt2"]()
    check, texts = ListCheck(tokenizer), []
    encode = tokenizer.encode_batch
    monkeypatch.setattr(tokenizer, "encode_batch", lambda some: texts.extend(some) or encode(some))
    words = "the cat sat on a mat and saw that it was good to be there"
    for text in (words, words.replace(" ", ", "), words.replace(" ", ". ")):
        assert check.consistent([np.array(tokenizer.encode(text))]).all()
    # With spaces and with commas after the words; full stops are as commas.
    assert len(texts) < len(words.split())


@pytest.mark.parametrize("name", ["hf-gpt2", "hf-ignore-merges", "sp-bpe", "sp-bpe-added"])
def test_list_check_decodes_as_the_tokenizer_does(name):
    tokenizer = TRAINED[name]()
    check, draw = ListCheck(tokenizer), random.Random(name)
    lists = [ids.tolist() for ids in some_lists(tokenizer, draw, 100)]
    # Any ids, special ones too: their texts begin with spaces, and hold pieces of characters.
    lists += [draw.choices(range(tokenizer.vocab_size), k=n % 5) for n in range(1000)]
    texts = [tokenizer.decode(ids) for ids in lists]
    assert [check.decode(ids) for ids in lists] == texts
    assert any(text[:1] == " " for text in texts)
    assert any("\ufffd" in text for text in texts)
