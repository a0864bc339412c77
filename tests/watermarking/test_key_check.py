"""The check finds a key whose list suits some texts, and no other keys."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import ticore
from tests.support.toy_models import ToyTokenizer
from ticore.errors import UnscorableTextError, WrongTypeError
from ticore.watermarking import WatermarkDetector, check_key
from ticore.watermarking._key_check import CONFIDENCE, LEVELS, key_check

LETTERS = [chr(0x4E00 + n) for n in range(300)]


class OfLetters(ToyTokenizer):
    def encode(self, text):
        return [ord(letter) - 0x4E00 for letter in text]


TOKENIZER = OfLetters(LETTERS)


def texts(rng, count, length=150):
    """As people write: some words are frequent in all texts."""
    return [
        "".join(LETTERS[n] for n in rng.zipf(1.5, size=length) % len(LETTERS)) for _ in range(count)
    ]


def detector(key, scheme="unigram", **settings):
    return WatermarkDetector(TOKENIZER, scheme, key=key, **settings)


@pytest.fixture(scope="module")
def checks():
    """Of some keys on the same texts."""
    written = texts(np.random.default_rng(1), 150)
    return {
        name: [check_key(detector(bytes([n]) * 16, name), written) for n in range(count)]
        for name, count in (("unigram", 24), ("left_hash", 6))
    }


def test_check_key_finds_an_unlucky_key_among_24(checks):
    found = checks["unigram"]
    worst = max(found, key=lambda check: check.rates[0].called)
    assert worst.verdict == "unlucky"
    assert worst.rates[0].share > 2 * LEVELS[0]
    assert worst.strength > 0.5
    assert "choose another key" in worst.advice
    again = texts(np.random.default_rng(2), 150)  # nor is it about these very texts
    key = bytes([found.index(worst)]) * 16
    assert check_key(detector(key), again).verdict == "unlucky"


def test_check_key_calls_most_keys_good(checks):
    good = [check.verdict == "no sign of bad luck" for check in checks["unigram"]]
    assert 12 <= sum(good) < 24
    spread = {name: np.std([check.strength for check in found]) for name, found in checks.items()}
    assert spread["left_hash"] < spread["unigram"]
    assert "use it" in checks["unigram"][good.index(True)].advice


def test_check_key_counts_the_detectors_verdicts():
    written = texts(np.random.default_rng(3), 150)
    found = check_key(detector(bytes(16), fpr=0.3), [*written, ""])
    assert [rate.level for rate in found.rates] == [0.1, 0.01, 0.3]
    assert (found.texts, found.skipped) == (150, 1)
    for rate in found.rates:
        looking = detector(bytes(16), fpr=rate.level)
        verdicts = [looking.detect(text).verdict for text in written]
        assert rate.called == 150 - verdicts.count("no watermark found")


@given(
    st.lists(st.sampled_from([1e-9, 1e-3, 0.02, 0.07, 0.5, 1.0]), min_size=1, max_size=300),
    st.sampled_from([1e-5, 0.01, 0.3]),
)
def test_key_check_gives_exact_intervals_and_p_values(values, fpr):
    found = key_check(values, 0, fpr, 0.0)
    assert found.rates[-1].level == fpr
    for rate in found.rates:
        exact = stats.binomtest(rate.called, len(values), rate.level, alternative="greater")
        assert rate.p_value == pytest.approx(exact.pvalue, rel=1e-6, abs=1e-12)
        interval = stats.binomtest(rate.called, len(values)).proportion_ci(CONFIDENCE, "exact")
        assert (rate.low, rate.high) == pytest.approx((interval.low, interval.high), abs=1e-9)
    unlucky = any(rate.p_value * len(found.rates) <= 0.01 for rate in found.rates)
    assert (found.verdict == "unlucky") == unlucky


def test_key_check_seldom_calls_a_good_key_unlucky():
    rng = np.random.default_rng(4)
    found = [key_check(rng.uniform(size=400), 0, 1e-3, 0.0).verdict for _ in range(1000)]
    assert found.count("unlucky") <= 22  # 10 at most in the mean


def test_key_check_asks_for_more_texts_when_there_are_few():
    good = key_check([0.5] * 99, 2, 1e-5, 0.0)
    assert good.verdict == "too few texts"
    assert "give 100 texts or more" in good.advice
    assert key_check([1e-9] * 10, 0, 1e-5, 9.0).verdict == "unlucky"


def test_check_key_asks_for_longer_texts_where_most_cannot_be_called_watermarked():
    tokenizer = ticore.load_tokenizer("tiny-en")
    short = [f"In the year {year} the harvest was good." for year in range(1700, 1810)]
    long = [" ".join(short[at : at + 20]) for at in range(0, 100, 2)]
    detector = WatermarkDetector(tokenizer, "unigram", key=bytes(32))
    assert detector.detect(short[0]).too_short
    found = check_key(detector, [*short, *long])
    assert (found.texts, found.too_short) == (160, 110)
    assert "give longer texts: 110 of 160 are too short to be called watermarked" in found.advice
    assert "use it" in key_check([0.5] * 120, 0, 1e-5, 0.0, 60).advice
    patient = WatermarkDetector(tokenizer, "unigram", key=bytes(32), fpr=0.1)
    assert check_key(patient, short).too_short == 0


def test_check_key_refuses_texts_that_cannot_be_scored():
    with pytest.raises(UnscorableTextError, match=r"found none that could be scored \(2 are"):
        check_key(detector(bytes(16)), ["", ""])


@pytest.mark.parametrize(("wrong", "kind"), [("a text", "str"), (None, "NoneType")])
def test_check_key_refuses_one_text(wrong, kind):
    with pytest.raises(WrongTypeError, match=f"expected many texts, found one {kind}"):
        check_key(detector(bytes(16)), wrong)


def test_check_key_refuses_a_detector_of_many_keys():
    one = detector(bytes(16))
    several = WatermarkDetector.any(one.tokenizer, [{"scheme": "gumbel", "key": bytes(16)}])
    with pytest.raises(WrongTypeError, match="expected a WatermarkDetector of one key"):
        check_key(several, ["a text"])


def test_key_check_is_a_dataclass_that_json_can_hold():
    found = key_check([0.5] * 120, 0, 1e-5, 0.0)
    assert dataclasses.asdict(found)["rates"][0]["level"] == 0.1
