"""Rates by length: those of the detector, one text after the other."""

from __future__ import annotations

from collections import Counter
from typing import Any, cast

import numpy as np
import pytest

from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore.errors import SettingsError, WrongTypeError
from ticore.evaluation import ALL, Calibration, CalibrationCell, calibrate
from ticore.evaluation._entropies import EntropyMeter
from ticore.schemes import SCHEMES, Scheme, external_scheme
from ticore.watermarking import WatermarkDetector

KEYS = (bytes(range(32)), bytes(range(1, 33)))
TOKENIZER = ToyTokenizer([chr(0x4E00 + n) for n in range(500)])
ENTRIES = [
    {"name": name, "scheme": "gumbel", "key": key} for name, key in zip("ab", KEYS, strict=True)
]


def texts(
    rng: np.random.Generator, count: int, length: int, scheme: Scheme | None = None
) -> list[str]:
    found = []
    for _ in range(count):
        ids = rng.integers(500, size=5).tolist()
        while len(ids) < length:
            logits = rng.gumbel(size=500)
            if scheme is not None:
                logits = scheme.bias(ids[-scheme.context :], logits * 2)
            ids.append(int(np.argmax(logits)))
        found.append(TOKENIZER.decode(ids))
    return found


@pytest.fixture(scope="module")
def found() -> Calibration:
    rng, detector = np.random.default_rng(1), WatermarkDetector.any(TOKENIZER, ENTRIES)
    plain = [*texts(rng, 60, 80), TOKENIZER.decode([1, 2, 3])]
    marked = texts(rng, 12, 80, SCHEMES["gumbel"](KEYS[1], 500))
    return calibrate(detector, plain, marked, lengths=[80, 20], thresholds=[1e-6, 0.1])


def cell(found: Calibration, **wanted: object) -> CalibrationCell:
    [one] = [c for c in found.cells if all(getattr(c, name) == it for name, it in wanted.items())]
    return one


def test_counts_are_those_of_the_detector(found: Calibration) -> None:
    rng, detector = np.random.default_rng(1), WatermarkDetector.any(TOKENIZER, ENTRIES)
    plain = texts(rng, 60, 80)
    for length in (20, 80):
        alone = [detector.detect_ids(TOKENIZER.encode(text)[:length]) for text in plain]
        for number, name in enumerate("ab"):
            one = cell(found, configuration=name, length=length, marked=False, threshold=0.1)
            assert one.found == sum(each.p_values[number] <= 0.1 for each in alone)
            assert one.texts == 60
        one = cell(found, configuration=ALL, length=length, marked=False, threshold=0.1)
        assert one.found == sum(each.p_value <= 0.1 for each in alone)


def test_marks_are_found_under_their_key_in_long_texts(found: Calibration) -> None:
    marked = {"marked": True, "threshold": 1e-6}
    assert cell(found, configuration="b", length=80, **marked).found == 12
    assert cell(found, configuration="a", length=80, **marked).found == 0
    assert cell(found, configuration=ALL, length=20, **marked).found < 12
    assert found.length_for(1e-6) == 80
    assert found.length_for(1e-6, configuration="a") is None
    assert found.too_short == 1


def test_configurations_with_one_default_name_are_counted_apart() -> None:
    rng, configs = np.random.default_rng(2), [{"key": 1}, {"key": 2}]
    detector = WatermarkDetector.any(
        TOKENIZER, [{"scheme": "vllm", "config": config} for config in configs]
    )
    marked = texts(rng, 4, 60, external_scheme("vllm", configs[0], 500))
    found = calibrate(detector, texts(rng, 3, 60), marked, lengths=[60], thresholds=[1e-3])
    first, second = detector.names
    for name, times in ((first, 4), (second, 0), (ALL, 4)):
        one = cell(found, configuration=name, marked=True)
        assert (one.found, one.texts) == (times, 4)
        assert cell(found, configuration=name, marked=False).texts == 3


def test_rates_have_their_intervals(found: Calibration) -> None:
    one = cell(found, configuration="a", length=80, marked=False, threshold=0.1).to_dict()
    assert one["low"] <= one["rate"] <= one["high"]
    assert one["rate"] == one["found"] / one["texts"]
    assert one["low"] <= 0.1


def test_marked_texts_are_counted_by_their_own_entropy() -> None:
    """Texts that are shorter than some lengths, in buckets from the lowest entropy on."""
    tokenizer = ToyTokenizer(TOKENIZER.pieces[:100])
    model, rng = ToyModel(tokenizer, sharpness=1.5, seed=4), np.random.default_rng(1)
    plain, marked = (
        [tokenizer.decode(rng.integers(100, size=size).tolist()) for size in sizes]
        for sizes in ((12, 30), (8, 12, 20, 30, 31))
    )
    detector = WatermarkDetector.any(tokenizer, ENTRIES[:1])
    found = calibrate(detector, plain, marked, lengths=[10, 1, 20], thresholds=[1.0], model=model)
    counted = Counter[tuple[tuple[float, float], int]]()
    for text in marked:
        ids = tokenizer.encode(text)
        lengths = [length for length in (1, 10, 20) if length <= len(ids)]
        buckets = EntropyMeter(model, tokenizer).buckets(ids, lengths)
        counted.update(zip(buckets, lengths, strict=True))
    cells = [((one.entropy, one.length), one.texts) for one in found.by_entropy]
    assert cells == sorted(counted.items())
    assert len({bucket for bucket, _ in counted}) > 1
    assert {(one.configuration, one.marked) for one in found.by_entropy} == {(ALL, True)}


def test_error_of_the_detector_is_raised_and_not_counted() -> None:
    class Refuses:
        name, context, null = "refuses", 1, SCHEMES["left_hash"](KEYS[0], 500).null

        def evidence(self, ids: object) -> None:
            raise SettingsError("ids: expected some that this scheme has a list for")

    own: Any = Refuses()
    detector = WatermarkDetector.any(TOKENIZER, [own])
    with pytest.raises(SettingsError, match="that this scheme has a list for"):
        calibrate(detector, texts(np.random.default_rng(1), 1, 30), lengths=[20])


def test_length_for_needs_all_longer_texts() -> None:
    def of(length: int, found: int) -> CalibrationCell:
        return CalibrationCell(ALL, length, True, 10, 1e-6, found)

    assert Calibration((of(25, 10), of(50, 9), of(100, 10))).length_for(1e-6) == 100
    assert Calibration((of(25, 3), of(50, 10), of(100, 10))).length_for(1e-6, 0.9) == 50
    assert Calibration((of(25, 3), of(50, 9), of(100, 10))).length_for(1e-6, 0.9) == 50
    assert Calibration((of(25, 3), of(50, 4))).length_for(1e-6) is None
    assert Calibration(()).length_for(1e-6) is None
    with pytest.raises(SettingsError, match="threshold: expected one of 1e-06, found 1e-07"):
        Calibration((of(25, 3),)).length_for(1e-7)
    with pytest.raises(SettingsError, match="expected one of all together, found 'mine'"):
        Calibration((of(25, 3),)).length_for(1e-6, 0.9, "mine")
    for share in (0, 95, float("nan")):
        with pytest.raises(SettingsError, match="share: expected"):
            Calibration((of(25, 3),)).length_for(1e-6, share)
    with pytest.raises(SettingsError, match="entropy: expected None, since no model was given"):
        Calibration((of(25, 3),)).length_for(1e-6, entropy=(1.0, 2.0))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"lengths": [0]}, "lengths: expected an integer of at least 1"),
        ({"thresholds": [0.0]}, "thresholds"),
        ({"thresholds": []}, "lengths and thresholds: expected one of each or more"),
        ({"lengths": []}, "lengths and thresholds: expected one of each or more"),
        ({"lengths": [1000]}, "expected texts of 1,000 tokens or more, found none among 1"),
    ],
)
def test_calibrate_refuses_what_it_cannot_measure(given: dict[str, list[int]], said: str) -> None:
    detector = WatermarkDetector.any(TOKENIZER, ENTRIES)
    with pytest.raises(SettingsError, match=said):
        calibrate(detector, [TOKENIZER.decode([1] * 9)], **given)  # type: ignore[arg-type]  # wrong ones


def test_calibrate_refuses_other_types_than_it_takes() -> None:
    detector = WatermarkDetector.any(TOKENIZER, ENTRIES)
    number: Any = 3
    single: Any = WatermarkDetector(TOKENIZER, key=bytes(16))
    with pytest.raises(WrongTypeError, match="expected a list of texts, found one str"):
        calibrate(detector, "a text")
    with pytest.raises(WrongTypeError, match="expected a list of lengths, found one int"):
        calibrate(detector, ["a text"], lengths=number)
    with pytest.raises(WrongTypeError, match=r"expected one that WatermarkDetector\.any made"):
        calibrate(single, ["a text"])


def test_calibrate_refuses_one_threshold() -> None:
    detector = WatermarkDetector.any(TOKENIZER, ENTRIES)
    with pytest.raises(WrongTypeError, match=r"a list of thresholds, found one float; give \[it\]"):
        calibrate(detector, [], thresholds=cast(Any, 0.01))
