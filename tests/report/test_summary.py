"""The rate by its formula, and what is said."""

import pytest

from tests.models import ToyTokenizer
from tests.tokenizers import train_sentencepiece
from ticore.consistency import compare
from ticore.report import inconsistency_rate, summary

TOY = ToyTokenizer(["", "a", "b", "ab", "c", "c"])


@pytest.mark.parametrize(
    ("ids", "rate"),
    [([], 0), ([3], 0), ([5], 0), ([1, 2], 1), ([1, 2, 4], 3 / 5), ([0], 1)],
)
def test_rate(ids, rate):
    assert inconsistency_rate(compare(TOY, ids)) == rate


def test_sentences():
    assert summary(compare(TOY, [])) == ["consistent: 0 tokens, read back unchanged"]
    assert summary(compare(TOY, [3])) == ["consistent: 1 token, read back unchanged"]
    assert summary(compare(TOY, [1, 2, 4])) == [
        "inconsistent: 3 tokens, read back as 2",
        "2 source and 1 consequential inconsistent tokens: 60.00% of both lists",
    ]


def test_special_and_unknown_tokens():
    tokenizer = ToyTokenizer(["", "a", "b", "ab", "<s>", "<unk>"], special=(4, 5))
    kept = "2 special tokens kept; what is between is read by itself"
    assert summary(compare(tokenizer, [4, 1, 4, 2])) == [
        "consistent: 4 tokens, read back unchanged",
        kept,
    ]
    assert summary(compare(tokenizer, [4, 1, 2, 4]))[2:] == [kept]
    tokenizer.unknown_ids = frozenset({5})
    assert (
        summary(compare(tokenizer, [1, 5]))[-1]
        == "1 token for text that the tokenizer does not know"
    )
    known = train_sentencepiece(byte_fallback=False, remove_extra_whitespaces=True)
    assert summary(compare(known, known.encode("\u2047"))) == [
        "inconsistent: 2 tokens, read back unchanged, but text is lost",
        "1 token for text that the tokenizer does not know",
    ]


def test_a_text_that_is_not_what_was_given():
    assert len(summary(compare(TOY, [3]), given="ab")) == 1
    assert "changes the text" in summary(compare(TOY, [3]), given="AB")[-1]
