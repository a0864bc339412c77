"""The sentence agrees with the verdict, and every colour can be read."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ticore
from tests.support.toy_models import ToyTokenizer
from tests.watermarking.test_any import KEYS, SIZE, TOKENIZER, marked_ids, some_ids
from ticore.report._detection_page import DETECTION_STYLE
from ticore.report._page import STYLE
from ticore.report._verdict import how_often, said_of, said_of_any
from ticore.schemes import SCHEMES, make_scheme

TIMES = {"million": 1e6, "billion": 1e9, "trillion": 1e12, "times": 1}


def said_probability(words):
    if found := re.fullmatch(r"(\d+) in 10 times", words):
        return int(found[1]) / 10
    number, word = re.fullmatch(r"once in ([\d.,]+) (\w+)( times)?", words).group(1, 2)
    return 1 / (float(number.replace(",", "")) * TIMES[word])


@given(st.floats(1e-9, 0.94))
def test_how_often_is_the_probability_with_one_digit_or_two(probability):
    said = said_probability(how_often(probability))
    assert said == pytest.approx(probability, rel=0.12 if probability <= 0.25 else 0.25)


def test_how_often_names_the_limits():
    assert how_often(1.0) == "nearly every time"
    assert how_often(0.0) == "less than once in 1 billion times"
    assert how_often(1e-14, 0) == "once in 100 trillion times"


def test_sentence_compares_what_the_verdict_compares():
    """The frequency that is said is above the limit if and only if nothing is found."""
    detector = ticore.WatermarkDetector(TOKENIZER, "gumbel", key=KEYS[3], fpr=0.1)
    kinds = set()
    for seed in range(60):
        found = detector.detect_ids(some_ids(seed, 60, SIZE))
        said = said_of(found)
        kinds.add(said.kind)
        assert (said.kind == "none") == (found.verdict == "no watermark found")
        if "nearly every time" in said.reason:
            assert said.kind == "none"
            continue
        often, limit = re.search(
            r"high about (.*); the limit that was set is (.*?)\.", said.reason
        ).groups()
        assert limit == "once in 10 times"
        assert (said_probability(often) <= 0.1) == (said.kind != "none") or often == limit
    assert kinds >= {"none", "part"}


def test_sentence_says_the_payload_and_how_sure_it_is():
    tokenizer = ToyTokenizer(["a"] * 500)
    scheme = make_scheme("gumbel_payload", KEYS[1], 500, payload="2a07", payload_bits=16)
    rng = np.random.default_rng(4)
    ids = rng.integers(500, size=5).tolist()
    while len(ids) < 150:
        ids.append(int(np.argmax(scheme.bias(ids[-5:], rng.normal(size=500)))))
    reader = ticore.WatermarkDetector(tokenizer, "gumbel_payload", key=KEYS[1], payload_bits=16)
    said = str(said_of(reader.detect_ids(ids)))
    assert said.endswith("Its payload is 2a07, with a confidence of more than 99.9%.")


def test_sentence_on_a_list_names_the_configuration():
    detector = ticore.WatermarkDetector.any(TOKENIZER, [{"scheme": "gumbel", "key": KEYS}])
    found = detector.detect_ids(marked_ids(SCHEMES["gumbel"](KEYS[3], SIZE), 3, 90))
    said = said_of_any(found)
    assert said.kind == "found"
    assert said.headline == f"This text has the watermark {detector.names[3]}."
    assert "A text without any of the 9 configurations would" in said.reason
    assert said_of_any(detector.detect_ids(some_ids(1, 90, SIZE))).kind == "none"


def test_sentence_on_a_list_says_that_a_text_is_too_short_for_so_many():
    """19 tokens are enough for one key, and not for nine."""
    ids = some_ids(1, 20, SIZE)
    keys = {"scheme": "left_hash", "key": KEYS}
    alone = ticore.WatermarkDetector(TOKENIZER, "left_hash", key=KEYS[0]).detect_ids(ids)
    assert said_of(alone).kind == "none"
    found = ticore.WatermarkDetector.any(TOKENIZER, [keys]).detect_ids(ids)
    said = said_of_any(found)
    assert (said.kind, said_of(found.best.detection).kind) == ("short", "short")
    assert "once in 29,000 times; the limit that was set is once in 100,000" in said.reason
    mixed = ticore.WatermarkDetector.any(TOKENIZER, [keys, {"scheme": "gumbel", "key": KEYS}])
    said = said_of_any(mixed.detect_ids(ids))
    assert said.kind == "none"
    assert said.reason.startswith("The text is too short for 9 of them.")


def colours(theme):
    declared = re.findall(r"--(\w+): ([^;]+);", (STYLE + DETECTION_STYLE).__dict__[theme])
    return {name: rgb(value) for name, value in declared}


def rgb(value):
    if value.startswith("#"):
        return np.array([int(value[at : at + 2], 16) for at in (1, 3, 5)], float)
    return np.array(value.split(), float)


def contrast(one, other):
    """Of two colours, as WCAG 2 defines it."""
    lights = []
    for colour in (one, other):
        part = colour / 255
        linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
        lights.append(float(linear @ [0.2126, 0.7152, 0.0722]) + 0.05)
    return max(lights) / min(lights)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast_of_everything_that_is_read_is_4_5_or_more(theme):
    has = colours(theme)
    opacities = [
        float(found) for found in re.findall(r"--good\) / ([\d.]+)", DETECTION_STYLE.rules)
    ]
    assert max(opacities) == 0.6
    pairs = [(has["paper"], has[kind]) for kind in ("found", "part", "faint")]
    for below in (has["paper"], has["box"]):  # ticore serve has texts on the second one
        pairs += [(has["ink"], below), (has["faint"], below)]
        for opacity in opacities:
            pairs.append((has["ink"], opacity * has["good"] + (1 - opacity) * below))
    assert min(contrast(*pair) for pair in pairs) >= 4.5
