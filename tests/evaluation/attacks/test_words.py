"""Words are dropped or swapped; white space stays."""

import random
from collections import Counter

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from ticore.errors import SettingsError
from ticore.evaluation import Attack, WordDrop, WordSwap
from ticore.evaluation.attacks._words import join, split

texts = st.text(st.sampled_from("ab,é \u0301\n\t\u3000猫。がカーก\u0e49"), max_size=30) | st.text(
    max_size=20
)
shares = st.floats(0, 1)
seeds = st.integers(0, 99)
SENTENCES = "One two,  three.\n\nFour five six\tseven eight. \n Nine ten"


@given(texts)
def test_split_and_join_give_the_text_back(text):
    words, gaps = split(text)
    assert join(words, gaps) == text
    assert not any(gap.strip() for gap in gaps)
    assert all(word and not regex.search(r"\s", word) for word in words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It's 3.5 km, he said", ["It's", "3.5", "km,", "he", "said"]),
        ("猫がいる。", ["猫", "が", "い", "る", "。"]),
        ("カード\u3000x", ["カ", "ー", "ド", "x"]),
        ("GPTは言語model", ["GPT", "は", "言", "語", "model"]),
        ("น้ำ ดี", ["น้", "ำ", "ดี"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("La col·lecció, Oʼzbek", ["La", "col·lecció,", "Oʼzbek"]),
        ("Sa\u0303o Vie\u0323\u0302t", ["Sa\u0303o", "Vie\u0323\u0302t"]),
        ("日\u0303本・東京·x", ["日\u0303", "本", "・", "東", "京", "·x"]),
        ("", []),
        (" \n", []),
    ],
)
def test_split_cuts_words_as_documented(text, words):
    assert split(text)[0] == words


@given(texts, shares, seeds)
@example(SENTENCES, 0.5, 1)
def test_word_drop_keeps_the_other_words_and_gaps_of_the_text(text, epsilon, seed):
    found = WordDrop(epsilon, random.Random(seed))(text)
    words, gaps = split(text)
    kept = [word for n, word in enumerate(words) if n not in found.positions]
    assert found.changed == len(found.positions) / max(1, len(words))
    if not kept and words:
        assert found.text == ""
        return
    assert regex.sub(r"\s", "", found.text) == "".join(kept)
    left = Counter(gap for gap in split(found.text)[1] if gap)
    assert left <= Counter(gaps)
    assert found.text.startswith(gaps[0])
    assert found.text.endswith(gaps[-1])


@pytest.mark.parametrize(
    ("text", "positions", "left"),
    [
        ("a b c", {1}, "a c"),
        ("a b\nc", {1}, "a\nc"),
        ("a\nb c", {1}, "a\nc"),
        ("a\n\nb\nc\td", {1, 2}, "a\n\nd"),
        ("a  b c", {1}, "a  c"),
        (" a b ", {0}, " b "),
        (" a b ", {1}, " a "),
        ("x猫 y", {1}, "x y"),
        ("猫がいる", {1, 2}, "猫る"),
        (" a ", {0}, ""),
    ],
)
def test_word_drop_keeps_the_gap_with_most_line_breaks(text, positions, left):
    class Chosen(random.Random):
        at = -1

        def random(self):
            self.at += 1
            return 0.0 if self.at in positions else 1.0

    found = WordDrop(0.5, Chosen())(text)
    assert (found.text, found.positions) == (left, tuple(sorted(positions)))


@given(
    st.lists(st.sampled_from([" ", "\n", "  ", "\t\n"]), max_size=20),
    shares,
    seeds,
    st.integers(1, 5),
)
def test_word_swap_exchanges_only_words_within_the_window(gaps, epsilon, seed, window):
    words = [f"w{n}" for n in range(len(gaps))]
    text = join(words, ["", *gaps])
    found = WordSwap(epsilon, random.Random(seed), window=window)(text)
    after, gaps_after = split(found.text)
    assert gaps_after == split(text)[1]
    came_from = [int(word[1:]) for word in after]
    assert all(came_from[came_from[n]] == n for n in range(len(words)))
    assert all(abs(one - n) <= window for n, one in enumerate(came_from))
    assert found.positions == tuple(n for n, one in enumerate(came_from) if one != n)
    assert found.changed == len(found.positions) / max(1, len(words))


@given(texts, shares, seeds)
def test_word_swap_keeps_all_characters(text, epsilon, seed):
    assert Counter(WordSwap(epsilon, random.Random(seed))(text).text) == Counter(text)


def test_word_swap_exchanges_neighbours_at_window_one():
    assert WordSwap(1, random.Random(0))("a b\nc d  e").text == "b a\nd c  e"
    assert WordSwap(1, random.Random(0))("猫が好き").text == "が猫き好"


def test_word_swap_reaches_as_far_as_its_window():
    words = [str(n) for n in range(300)]
    found = WordSwap(1, random.Random(0), window=4)(" ".join(words))
    moved = Counter(abs(n - int(word)) for n, word in enumerate(found.text.split()))
    assert set(moved) <= {0, 1, 2, 3, 4}
    assert min(moved[n] for n in (1, 2, 3, 4)) > 20
    assert found.changed > 0.9


@pytest.mark.parametrize("epsilon", [0.05, 0.4, 0.9])
def test_share_of_changed_words_follows_epsilon(epsilon):
    text = " ".join("abcdefghij") * 2
    count = len(split(text)[0])
    drop, swap = WordDrop(epsilon, random.Random(1)), WordSwap(epsilon, random.Random(1))
    dropped = sum(len(drop(text).positions) for _ in range(400))
    assert stats.binomtest(dropped, 400 * count, epsilon).pvalue > 0.01
    long = " ".join("abcdefghij" * 2000)
    assert swap(long).changed == pytest.approx(2 * epsilon / (1 + epsilon), abs=0.02)


@pytest.mark.parametrize("make", [WordDrop, WordSwap])
def test_edits_leave_the_text_alone_when_epsilon_is_zero_or_the_text_empty(make):
    for epsilon, text in ((0, SENTENCES), (1, ""), (1, " \n ")):
        attack = make(epsilon, random.Random(1))
        found = attack(text)
        assert (found.text, found.changed, found.positions) == (text, 0, ())
        assert isinstance(attack, Attack)
        assert found.label == attack.name
    assert WordSwap(1, random.Random(1))("alone").text == "alone"
    assert WordDrop(1, random.Random(1))(SENTENCES).text == ""


@pytest.mark.parametrize("make", [WordDrop, WordSwap])
def test_edits_are_the_same_for_the_same_seed(make):
    found = [make(0.5, random.Random(5))(SENTENCES) for _ in range(2)]
    assert found[0] == found[1]


@pytest.mark.parametrize("epsilon", [-1, 2, float("nan")])
def test_edits_refuse_settings_out_of_range(epsilon):
    for make in (WordDrop, WordSwap):
        with pytest.raises(SettingsError, match="epsilon: expected a probability"):
            make(epsilon, random.Random(1))


@pytest.mark.parametrize("window", [0, 1.5, True, "2"])
def test_swaps_refuse_a_window_that_is_no_number_of_words(window):
    with pytest.raises(SettingsError, match="window: expected an integer of at least 1"):
        WordSwap(0.5, random.Random(1), window=window)
