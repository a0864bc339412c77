"""The rate equals its formula, and the sentences say what is unusual."""

import pytest

from tests.support.tokenizers import train_sentencepiece
from tests.support.toy_models import ToyTokenizer
from ticore.consistency import compare
from ticore.report import inconsistency_rate, summary

TOY = ToyTokenizer(["", "a", "b", "ab", "c", "c"])


@pytest.mark.parametrize(
    ("ids", "rate"),
    [([], 0), ([3], 0), ([5], 0), ([1, 2], 1), ([1, 2, 4], 3 / 5), ([0], 1)],
)
def test_inconsistency_rate_equals_its_formula(ids, rate):
    assert inconsistency_rate(compare(TOY, ids)) == rate


def test_summary_says_whether_a_list_is_consistent():
    assert summary(compare(TOY, [])) == ["consistent: 0 tokens, read back unchanged"]
    assert summary(compare(TOY, [3])) == ["consistent: 1 token, read back unchanged"]
    assert summary(compare(TOY, [1, 2, 4])) == [
        "inconsistent: 3 tokens, read back as 2",
        "2 source and 1 consequential inconsistent tokens: 60.00% of both lists",
    ]


def test_summary_counts_special_and_unknown_tokens():
    tokenizer = ToyTokenizer(["", "a", "b", "ab", "<s>", "<unk>"], special=(4, 5))
    special = "2 special tokens; each part between them is read by itself"
    assert summary(compare(tokenizer, [4, 1, 4, 2])) == [
        "consistent: 4 tokens, read back unchanged",
        special,
    ]
    assert summary(compare(tokenizer, [4, 1, 2, 4]))[2:] == [special]
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


def test_summary_says_that_the_tokenizer_changes_the_text():
    assert len(summary(compare(TOY, [3]), given="ab")) == 1
    assert "changes the text" in summary(compare(TOY, [3]), given="AB")[-1]
