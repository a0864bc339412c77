"""A Verifier gives the oracle's answers for random tokenizers, by whatever method it reaches."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.random_bpe import MODES
from tests.support.random_steps import (
    PUBLISHED,
    bert_normalizer,
    digits,
    metaspace,
    precompiled,
    replace,
    split_by,
)
from tests.support.random_tokenizers import (
    FAMILIES,
    JsonTokenizer,
    SentencePieceModel,
    charsmap,
    texts_of,
)
from tests.support.slow import examples, few_or_many
from tests.support.verifier_answers import check_answers

modes = st.sampled_from(("prefix", *MODES))
choices = st.lists(st.integers(0, 99), max_size=4)

NO_TABLES = ()


@pytest.mark.parametrize("examples", few_or_many(10, examples(30, thorough=40)))
@pytest.mark.parametrize("family", FAMILIES)
def test_verifier_equals_the_oracle_for_random_tokenizers(family, examples):
    methods = Counter()

    @settings(max_examples=examples)
    @given(st.data())
    def check(data):
        model = data.draw(FAMILIES[family], "tokenizer")
        text = data.draw(texts_of(model), "text")
        methods[check_answers(model, data.draw(modes), text, data.draw(choices))] += 1

    check()
    assert methods["table"] or family in NO_TABLES, methods


def from_left(*words):
    """Rules that make some words from left to right."""
    return tuple(
        dict.fromkeys(
            (word[:n].encode(), word[n].encode()) for word in words for n in range(1, len(word))
        )
    )


STRIP = {"type": "Strip", "strip_left": False, "strip_right": True}
SQUEEZE = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "▁"}
CLEANED = (replace("''", '"'), *({"type": kind} for kind in ("NFKD", "StripAccents", "Lowercase")))
SCORES = tuple((text, -float(n)) for n, text in enumerate((" a", "b ", "ab", " ", "b", "a", "'")))
MODELS = {
    "BPE without a token for one byte": JsonTokenizer(
        "characters",
        from_left(" ab", "\tb"),
        normalizers=(replace(" ", "▁"),),
        byte_fallback=True,
        lacking=(0x09, 0xA9),
        decoder="llama",
    ),
    "unigram without a token for one byte": JsonTokenizer(
        "unigram",
        scores=SCORES,
        normalizers=(STRIP, SQUEEZE),
        pretokenizers=(metaspace("always"),),
        byte_fallback=True,
        lacking=(0xA9,),
        decoder="llama",
        strips=True,
    ),
    "BPE after a character map, as NLLB's": JsonTokenizer(
        "characters",
        from_left(" ab", "ﬁ", "b'"),
        normalizers=(precompiled(charsmap("nmt_nfkc")), STRIP, SQUEEZE),
        pretokenizers=(metaspace("always"),),
        decoder="metaspace",
        strips=True,
    ),
    "BPE of words": JsonTokenizer(
        "characters",
        from_left(" ab", "\tb", "aé\n", "▁"),
        normalizers=(*CLEANED, SQUEEZE),
        pretokenizers=({"type": "WhitespaceSplit"}, metaspace("always", split=False)),
        decoder="metaspace",
        strips=True,
    ),
    "unigram after several steps, as ALBERT's": JsonTokenizer(
        "unigram",
        scores=(*SCORES, ("''", -0.5), ("A", -1.0), ("\n", -4.0)),
        normalizers=(*CLEANED, precompiled(charsmap("nmt_nfkc")), SQUEEZE),
        pretokenizers=({"type": "WhitespaceSplit"}, metaspace("always")),
        decoder="metaspace",
        strips=True,
    ),
    "BPE after BERT's normalizer": JsonTokenizer(
        "bytes",
        from_left(" ab", "aあ", "aé"),
        normalizers=(bert_normalizer(chinese=True, strip_accents=True), {"type": "Nmt"}),
        pretokenizers=PUBLISHED["gpt2"],
    ),
    "BPE of words and digits": JsonTokenizer(
        "characters",
        from_left(" ab", "1b", "12", " 1", "aあ"),
        pretokenizers=(metaspace("first"), digits(True), split_by("あ", "MergedWithNext")),
        decoder="llama",
        strips=True,
    ),
    "unigram of words and digits": JsonTokenizer(
        "unigram",
        scores=(*SCORES, ("1b", -0.5), (" 1", -1.0), ("11", -0.1), ("1", -2.0)),
        pretokenizers=(digits(False), metaspace("never")),
        decoder="metaspace",
    ),
    "BPE without white space": JsonTokenizer(
        "bytes",
        from_left("ab", "a b", "b'", "aé", "b\n"),
        pretokenizers=({"type": "Whitespace"}, *PUBLISHED["gpt2"]),
    ),
    "BPE with a space after each text": SentencePieceModel(
        "bpe", SCORES, suffixes=True, squeezes=True
    ),
    "unigram with a space after each text": SentencePieceModel(
        "unigram", (*SCORES, ("é ", -1.0), ("\u0e3f", -3.0)), suffixes=True, squeezes=True
    ),
    "BPE after rules of its own": SentencePieceModel(
        "bpe", (*SCORES, ("aab", -1.0), ("ba", -0.5)), rules="longer"
    ),
    "unigram after rules of its own": SentencePieceModel(
        "unigram", (*SCORES, ("aa", -1.0), ("い", -0.5)), byte_fallback=False, rules="pairs"
    ),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", MODELS)
def test_tables_are_exact_for_what_may_happen_before_or_after_segmentation(name, mode):
    model = MODELS[name]
    texts = [text.replace("▁", " ") for text in model.texts]
    for seed in range(examples(2, thorough=4)):
        text = "".join(random.Random(seed).choices([*texts, "\té", "あ ", "ﬁ''", "\n"], k=9))
        method = check_answers(model, mode, text, [seed, 95, 1, 90 + seed])
        # In this mode a text may go on with "a", which "pairs" replaces together with another one.
        assert method == (
            "retokenize" if (getattr(model, "rules", ""), mode) == ("pairs", "viable") else "table"
        )
