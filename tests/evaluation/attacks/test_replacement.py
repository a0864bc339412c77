"""Replacement samples given the tokens to the left, and nothing else."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore import load_model
from ticore.errors import SettingsError, WrongTypeError
from ticore.evaluation import Attack, Replacement
from ticore.watermarking import LogitsWarper, multinomial

LETTERS = ToyTokenizer([*"abcdefghij", "<end>", "<pad>"], special={11})
MODEL = ToyModel(LETTERS, seed=3, eos_ids={10}, width=14)
texts = st.text("abcdefghij", max_size=30)
shares = st.floats(0, 1)


def replacement(epsilon, seed=0, model=MODEL, **how):
    return Replacement(model, epsilon, random.Random(seed), **how)


@pytest.mark.slow
@given(texts, shares, st.integers(0, 99))
def test_replacement_changes_only_chosen_positions(text, epsilon, seed):
    found = replacement(epsilon, seed)(text)
    assert len(found.text) == len(text)
    differ = [n for n in range(len(text)) if text[n] != found.text[n]]
    assert set(differ) <= set(found.positions)
    assert list(found.positions) == sorted(set(found.positions))
    assert found.changed == len(differ) / max(1, len(text))


@given(texts, texts, texts, shares, st.integers(0, 99))
def test_replacement_is_independent_of_text_to_the_right(left, one, other, epsilon, seed):
    """Texts with the same beginning have the same result for that beginning."""
    found = [replacement(epsilon, seed)(left + right).text for right in (one, other)]
    assert found[0][: len(left)] == found[1][: len(left)]


@given(texts, st.randoms(use_true_random=False), st.integers(0, 99))
def test_replacement_is_independent_of_the_token_itself(text, shuffler, seed):
    """If all tokens are replaced, the result does not depend on the original tokens."""
    other = "".join(shuffler.choices("abcdefghij", k=len(text)))
    assert replacement(1, seed)(text).text == replacement(1, seed)(other).text


@given(texts, shares, st.integers(0, 99), st.sampled_from(["", "ab", [4, 5, 6]]))
def test_replacement_is_the_models_next_token_after_the_attacked_text(text, epsilon, seed, prompt):
    found = replacement(epsilon, seed, prompt=prompt)(text)
    draw = random.Random(seed)
    ids = LETTERS.encode(prompt) if isinstance(prompt, str) else list(prompt)
    begin = len(ids)
    for token in LETTERS.encode(text):
        if draw.random() < epsilon:
            logits = MODEL.logits_after(ids)
            logits[10:] = -float("inf")
            ids.append(multinomial(draw)(ids, logits))
        else:
            ids.append(token)
    assert found.text == LETTERS.decode(ids[begin:])


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.05, 0.3, 0.8])
def test_share_of_replaced_tokens_is_binomial(epsilon):
    attack = replacement(epsilon, seed=7)
    counts = [len(attack("abcdefghij" * 2).positions) for _ in range(400)]
    assert stats.binomtest(sum(counts), 20 * 400, epsilon).pvalue > 0.01
    # The spread as well: it would be wider if tokens were replaced in runs.
    scaled = sum((count - 20 * epsilon) ** 2 for count in counts) / (20 * epsilon * (1 - epsilon))
    assert 0.005 < stats.chi2.cdf(scaled, 400) < 0.995


def test_replaced_tokens_follow_the_models_distribution():
    attack = replacement(1, seed=1, prompt="ab", warp=LogitsWarper(top_k=4))
    drawn = [attack("a").text for _ in range(3000)]
    allowed = MODEL.logits_after([0, 1])
    allowed[10:] = -float("inf")
    warped = LogitsWarper(top_k=4)(allowed)
    share = [2.718281828459045 ** (x - max(warped)) for x in warped[:10]]
    expected = [3000 * x / sum(share) for x in share]
    observed = [drawn.count(letter) for letter in "abcdefghij"]
    kept = [n for n in range(10) if expected[n]]
    assert len(kept) == 4
    assert sum(observed[n] for n in kept) == 3000
    found = stats.chisquare([observed[n] for n in kept], [expected[n] for n in kept])
    assert found.pvalue > 0.001


def test_replacement_never_samples_special_padded_or_end_ids():
    model = ToyModel(LETTERS, sharpness=0, eos_ids={10}, width=14)
    found = replacement(1, model=model)("a" * 500)
    assert set(found.text) == set("abcdefghij")


def test_replacement_chooses_all_tokens_at_epsilon_one_and_no_token_at_zero():
    text = "abcdefghij" * 20
    none, every = replacement(0)(text), replacement(1)(text)
    assert (none.text, none.positions, none.changed) == (text, (), 0)
    assert every.positions == tuple(range(200))
    assert every.changed > 0.7


def test_replacement_leaves_an_empty_text_empty():
    found = replacement(1)("")
    assert (found.text, found.positions, found.changed) == ("", (), 0)


def test_replacement_reads_the_last_tokens_when_the_text_exceeds_the_context():
    for context in (1, 2, 3, 8):
        model = ToyModel(LETTERS, seed=3, eos_ids={10}, context=context)
        found = replacement(0.5, model=model, prompt="abcabc")("abcdefghij" * 5)
        assert len(found.text) == 50
        assert found.changed > 0.2


def test_replacement_starts_the_model_with_no_more_than_its_context():
    """Also where more tokens than that stand before the first one to be replaced."""
    started = []

    class Watched(ToyModel):
        def start(self, prompt_ids):
            started.append(len(prompt_ids))
            return super().start(prompt_ids)

    model = Watched(LETTERS, seed=3, eos_ids={10}, context=8)
    for seed in range(20):
        found = replacement(0.05, seed, model=model)("abcdefghij" * 5)
        assert len(found.text) == 50
    assert max(started) == 8


def test_replacement_computes_logits_only_at_chosen_positions(monkeypatch):
    model = ToyModel(LETTERS, seed=3, eos_ids={10})
    monkeypatch.setattr(model, "start", None)
    assert replacement(0, model=model)("abc").text == "abc"


def test_replacement_works_with_a_real_tokenizer():
    model = load_model("tiny-en")
    text = "The morning was cold and quiet, and nobody had been out in the road since it was dark."
    attack = Replacement(
        model, 0.2, random.Random(2), prompt="It was winter.", warp=LogitsWarper(top_k=50)
    )
    found = attack(text)
    assert isinstance(attack, Attack)
    assert found.label == attack.name == "replacement 0.2"
    assert found.text != text
    assert 0 < found.changed <= len(found.positions) / len(model.tokenizer.encode(text)) < 0.5
    assert Replacement(model, 0, random.Random(2))(text).text == text


@pytest.mark.parametrize("epsilon", [-0.1, 1.1, float("nan"), True, "0.5"])
def test_replacement_refuses_an_epsilon_that_is_not_a_probability(epsilon):
    with pytest.raises(SettingsError, match="epsilon: expected a probability from 0 to 1, found"):
        replacement(epsilon)


def test_a_prompt_that_is_none_is_refused_at_once():
    with pytest.raises(WrongTypeError, match="expected token ids, or a text"):
        replacement(0.5, prompt=b"ab")
    with pytest.raises(SettingsError):
        replacement(0.5, prompt=[10**6])
