"""No disambiguation: nothing is dropped, and texts are misread."""

import numpy as np
import pytest

from tests.support.pools import pool
from tests.support.tokenizers import TRAINED
from tests.support.toy_models import ToyTokenizer
from ticore.disambiguation import NoDisambiguation, PromptContext
from ticore.errors import CapacityError, ExtractionError, OutsidePoolError

TOY = ToyTokenizer(["", "a", "b", "ab", "ba", "aab", "c"])


def plain(prompt="", view="whole", tokenizer=TOY):
    return NoDisambiguation(PromptContext(tokenizer, prompt, tokenizer.encode(prompt), view))


def written(session, ids):
    for token in ids:
        session.push(token)
    return session.text()


def test_none_keeps_the_pool():
    candidates = pool(3, 1, 2, 6)
    choices = plain("a").start().refine(candidates, iter([]))
    assert choices.ids.tolist() == choices.kept.ids.tolist() == [3, 1, 2, 6]
    assert choices.mass.tolist() == candidates.unnormalized_probs.tolist()


def test_none_falls_back_when_the_pool_is_empty():
    assert plain().start().refine(pool(), iter([pool(2, 1)])).ids.tolist() == [2]
    with pytest.raises(CapacityError):
        plain().start().refine(pool(), iter([]))


@pytest.mark.parametrize(("view", "text"), [("whole", "cac"), ("continuation", "ac")])
def test_none_reads_the_tokens_after_the_prompt(view, text):
    made = plain("c", view)
    assert written(made.start(), [1, 6]) == text
    choices = made.start().refine(pool(6, 1), iter([]))
    reader = made.read(text)
    assert [reader.locate(choices), reader.locate(choices)] == [1, 0]
    assert reader.exhausted


def test_none_may_read_other_tokens_than_were_written():
    made = plain("c")
    session = made.start()
    choices = session.refine(pool(1, 2, 3), iter([]))
    text = written(session, [1, 2])  # "a", "b"
    assert text == "cab"
    assert session.may_end()
    assert made.read(text).locate(choices) == 2  # "ab"
    with pytest.raises(OutsidePoolError, match="token 1 of the text"):
        made.read(text).locate(session.refine(pool(1, 2), iter([])))


def test_none_raises_when_the_prompt_is_misread():
    made = plain("a")
    with pytest.raises(ExtractionError, match="end of the prompt reads as other tokens"):
        made.read(written(made.start(), [2]))
    with pytest.raises(ExtractionError, match="begins with the prompt 'a', found 'c'"):
        made.read("c")


@pytest.mark.parametrize("name", ["sp-bpe", "hf-gpt2"])
def test_may_end_is_false_inside_a_character(name):
    tokenizer = TRAINED[name]()
    by_bytes = {tokenizer.token_bytes(i): i for i in range(tokenizer.vocab_size)}
    session, data = plain("", "continuation", tokenizer).start(), "né😀!é".encode()
    for n, byte in enumerate(data, 1):
        session.push(by_bytes[bytes([byte])])
        finished = data[:n].decode(errors="ignore").encode() == data[:n]
        assert session.may_end() == finished


def test_choices_of_a_pool_are_groups_of_one():
    assert np.array_equal(plain().start().refine(pool(2, 1), iter([])).group, [0, 1])
