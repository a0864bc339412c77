"""Normalizers that change whole clusters, against the library's Precompiled."""

from __future__ import annotations

import random

import pytest
from tokenizers import normalizers

from tests.support.random_bpe import MODES
from tests.support.random_steps import metaspace, precompiled
from tests.support.random_tokenizers import JsonTokenizer, charsmap
from tests.support.verifier_answers import check_answers
from ticore.consistency._tokenizer_rules.clusters import Clusters

LETTERS = "eo=a"
MARKS = "\u0301\u0302\u0316\u0338\u093e\u200d"
OTHERS = "x あ\u06dd\U0001f1e6"
SQUEEZE = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "▁"}
STRIP = {"type": "Strip", "strip_left": False, "strip_right": True}


def read_with(name="nmt_nfkc"):
    normalize = normalizers.Precompiled(charsmap(name)).normalize_str
    return lambda text: normalize(f"|{text}|")[1:-1]


def text_of(draw: random.Random, length: int) -> str:
    """Letters with few and many marks, and characters that marks do not change."""
    kinds = draw.choices((LETTERS, MARKS, MARKS, OTHERS), k=length)
    return "".join(map(draw.choice, kinds))


def test_a_context_stands_for_the_text_before_marks():
    read = read_with()
    clusters = Clusters(("e\u0301", "e\u0302", "o\u0301", "o\u0302", "=\u0338", "a\u0301"), read)
    draw, changed = random.Random(1), 0
    for _ in range(3000):
        text, more = (text_of(draw, draw.randint(1, 7)) for _ in range(2))
        if read(text) != text:
            continue
        context = clusters.context(text)
        marks = "".join(draw.choices(MARKS, k=draw.randint(1, 3)))
        is_kept = read(text + marks) == text + marks
        assert is_kept == (read(context + marks) == context + marks), ascii((text, marks))
        assert clusters.context(context + more) == clusters.context(text + more)
        if clusters.holds_context(more):
            assert clusters.context(text + more) == clusters.context(more), ascii((text, more))
        changed += not is_kept
    assert changed > 50


def a_model(draw: random.Random) -> JsonTokenizer:
    """BPE or unigram whose tokens spell, together, what its normalizer changes."""
    letters = [*LETTERS, *MARKS, *OTHERS]
    apart = [text_of(draw, draw.randint(2, 4)) for _ in range(12)]
    texts = [text for text in apart if read_with()(text) == text]
    scheme, spaces = draw.choice((("always", (STRIP, SQUEEZE)), ("never", ())))
    steps = {
        "normalizers": (precompiled(charsmap("nmt_nfkc")), *spaces),
        "pretokenizers": (metaspace(scheme, split=False),),
        "decoder": "llama",
        "strips": scheme != "never",
    }
    if draw.random() < 0.5:
        scores = dict.fromkeys([*letters, *texts], 0.0)
        scores = {text: -draw.choice((1.0, 2.0, 5.0)) * len(text) for text in scores}
        return JsonTokenizer("unigram", scores=tuple(scores.items()), **steps)
    rules = [(text[:n], text[n]) for text in texts for n in range(1, len(text))]
    kept = {(a.encode(), b.encode()): None for a, b in rules if read_with()(a + b) == a + b}
    more = tuple(letter.encode() for letter in letters)
    return JsonTokenizer("characters", tuple(kept), more, **steps)


@pytest.mark.parametrize("mode", MODES)
def test_tables_are_exact_where_tokens_together_spell_what_is_changed(mode):
    for seed in range(12):
        draw = random.Random(f"{mode} {seed}")
        model = a_model(draw)
        choices = [draw.randint(0, 99) for _ in range(9)]
        assert check_answers(model, mode, text_of(draw, 9), choices) == "table", seed
