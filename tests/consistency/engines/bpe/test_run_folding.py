"""A text is split alike with and without the middle of its long runs."""

from itertools import groupby

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.pretokenizers import PRETOKENIZERS
from tests.support.random_bpe import PATTERNS
from ticore.consistency._engines.bpe.character_classes import shapes_for
from ticore.consistency._engines.bpe.run_folding import MARGIN, STRETCH, labels_for
from ticore.consistency._tokenizer_rules.pretokenizers import splitter_for

ALPHABETS = (
    "aA", "aAあ\u0301", "あA", " \n\t", "!/\n", "!\u0301/", "'!", "1a", "\n ", "a'sS",
    "!\u0301A", "Aあ\u0301'", "! ", "/\n", "ǅʰa", "\u0301あ", "aA \n\t!/'s1\u0301あ",
)  # fmt: skip
runs = st.sampled_from(ALPHABETS).flatmap(
    lambda letters: (
        st.text(st.sampled_from(letters), min_size=1, max_size=4)
        | st.text(st.sampled_from(letters), min_size=12, max_size=24)
    )
)
continuations = st.text(st.sampled_from("aAあ\u0301!/\n \t's1"), max_size=4)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PRETOKENIZERS))
@given(data=st.data(), text=st.lists(runs, min_size=1, max_size=3).map("".join), more=continuations)
@example(data=None, text="\n\n//////\n////!\n!!", more="あA")
@example(data=None, text="ああ\n//////\n\n/////", more="'1A")
def test_leaving_out_the_middle_of_a_stretch_moves_no_boundary(name, data, text, more):
    splitter, shapes = splitter_for(PRETOKENIZERS[name]), shapes_for(PRETOKENIZERS[name])
    labels = labels_for(splitter)(shapes.shape(text))
    assert len(labels) == len(text)
    for run in STRETCH.finditer(labels):
        start, end = run.start() + MARGIN, run.end() - MARGIN
        if data is not None:
            start = data.draw(st.integers(start, end))
            end = data.draw(st.integers(start, end))
        whole = list(splitter.ends(shapes.shape(text + more)))
        folded = list(splitter.ends(shapes.shape(text[:start] + text[end:] + more)))
        if start < end:
            assert [at for at in whole if start <= at <= end] == []
        assert folded == [at if at <= start else at - (end - start) for at in whole]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *((name, unit) for name in sorted(PATTERNS) for unit in ("a", "!", " ", "あ", " \t")),
        *((name, "\r\n") for name in sorted(PATTERNS)),
        *(("gpt2", unit) for unit in ("1", " \n\t", "!'", "\u0301", "👩\u200d")),
        *(("cl100k", unit) for unit in (" \n", "aé", "\u0301", "!\u0301", "👩\u200d\ufe0f")),
        *(("o200k", unit) for unit in ("A", "あA", "\u0301", "!/", "/\n", " \n")),
        ("o200k", "👩\u200d❤\ufe0f"),
    ],
)  # fmt: skip
def test_labels_for_gives_one_label_to_a_long_run(name, text):
    labels = labels_for(splitter_for((PATTERNS[name],)))(
        shapes_for((PATTERNS[name],)).shape(text * 50)
    )
    longest = max(len(run[0]) for run in STRETCH.finditer(labels))
    assert longest > 40 * len(text)


@pytest.mark.parametrize(
    ("name", "stretches"),
    [
        ("gpt2", "aaaa"),
        ("gpt2", "!!!!"),
        ("gpt2", "1111"),
        ("cl100k", "1|1|1|1"),
        ("gpt2", "  \n "),
        ("cl100k", "\n\n| \n |\n|  "),
        ("o200k", "!!/!|\n/\n/"),
        ("o200k", "AあA|aあ"),
        ("o200k", "AあAあ|A"),
    ],
)
def test_labels_for_gives_the_stretches_of_the_examples_of_its_docstring(name, stretches):
    text = stretches.replace("|", "")
    labels = labels_for(splitter_for((PATTERNS[name],)))(shapes_for((PATTERNS[name],)).shape(text))
    lengths = [len(list(stretch)) for _, stretch in groupby(labels)]
    assert lengths == [len(stretch) for stretch in stretches.split("|")]


@pytest.mark.parametrize("name", ["cl100k", "o200k", "qwen2"])
def test_labels_for_leaves_out_no_digits_when_the_expression_counts_them(name):
    assert not STRETCH.search(labels_for(splitter_for((PATTERNS[name],)))("0" * 50))
