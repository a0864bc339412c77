"""Many configurations at once: what each finds alone, corrected for their number."""

import json
import re
import traceback
from dataclasses import fields
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ticore
from tests.support.toy_models import ToyTokenizer
from ticore.errors import (
    CredentialError,
    SettingsError,
    TicoreError,
    UnscorableTextError,
    WrongTypeError,
)
from ticore.schemes import SCHEMES, external_scheme, make_scheme
from ticore.schemes.external import VLLMGumbel
from ticore.watermarking import WatermarkAgreement, WatermarkDetector

SIZE = 300
TOKENIZER = ToyTokenizer(["a"] * SIZE)
WRONG = "47ef61ec94907867a1544465f2c8abcd95a3e3c66c14945896782deceb612345"
KEYS = [bytes([number] * 16) for number in range(9)]
VARIANTS = [
    *({"scheme": name, "version": version} for name in SCHEMES for version in (1, 2)),
    {"scheme": "left_hash", "context": 3, "gamma": 0.25},
    {"scheme": "self_hash", "context": 1},
    {"scheme": "left_hash", "greens": "exact"},
    {"scheme": "self_hash", "greens": "exact"},
    {"scheme": "unigram", "greens": "exact", "version": 1},
    {"scheme": "gumbel_payload"},
    {"scheme": "gumbel_payload", "context": 1, "payload_bits": 16},
]


CORRECTED = ("verdict", "target", "stretches", "corrected_for")


def equal(one, other, but=()):
    """Whether all fields are the same to the last bit, but for some of them."""
    return all(
        np.array_equal(here, there, equal_nan=here.dtype.kind == "f")
        if isinstance(here := getattr(one, field.name), np.ndarray)
        else here == there
        for field in fields(one)
        if field.name not in but
        for there in [getattr(other, field.name)]
    )


def some_ids(seed, length, kinds):
    return np.random.default_rng(seed).integers(kinds, size=length)


def marked_ids(scheme, seed, length):
    """Ids that a model without preferences writes with a watermark."""
    rng = np.random.default_rng(seed)
    ids = rng.integers(SIZE, size=5).tolist()
    while len(ids) < length:
        logits = scheme.bias(ids[len(ids) - scheme.context :], rng.gumbel(size=SIZE))
        ids.append(int(np.argmax(logits)))
    return np.array(ids)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 999),
    length=st.integers(0, 120),
    kinds=st.sampled_from([2, 9, SIZE]),
    repeats=st.sampled_from(["once", "all"]),
)
def test_any_finds_for_each_configuration_what_its_detector_finds(
    variant, seed, length, kinds, repeats
):
    """To the last bit: the p-values of all; everything about those that are found."""
    ids = some_ids(seed, length, kinds)
    settings_of = {name: value for name, value in variant.items() if name != "scheme"}
    alone = [
        WatermarkDetector(TOKENIZER, variant["scheme"], key=key, repeats=repeats, **settings_of)
        for key in KEYS
    ]
    detector = WatermarkDetector.any(TOKENIZER, [variant | {"key": KEYS}], repeats=repeats, fpr=0.9)
    if length <= alone[0].scheme.context:
        with pytest.raises(UnscorableTextError, match="of 9 configurations, found"):
            detector.detect_ids(ids)
        return
    found = detector.detect_ids(ids)
    expected = [one.detect_ids(ids) for one in alone]
    assert found.p_values.tolist() == [one.p_value for one in expected]
    both = sorted(min(1.0, 2 * min(one.p_value, one.segment.p_value)) for one in expected)
    assert found.p_value == min(1.0, 9 * both[0])
    for one in (*found.found, found.best):
        assert equal(one.detection, expected[one.index], CORRECTED)
        assert one.detection.target.key == expected[one.index].target.key
    for one, strongest in zip(expected, found.strongest_p_values.tolist(), strict=True):
        known = one.strongest_p_value
        assert np.isnan(strongest) if known is None else strongest == known
    assert [one.detection.corrected_for for one in found.found] == [9, 8, 7, 6, 5, 4, 3, 2, 1][
        : len(found.found)
    ]
    corrected = np.maximum.accumulate([min(1, (9 - at) * p) for at, p in enumerate(both)])
    assert [one.p_value for one in found.found] == corrected[corrected <= 0.9].tolist()


class Enough(Exception):
    """Nobody waits any more."""


@pytest.mark.parametrize("tokenizations", ["read", "search"])
def test_what_a_tick_raises_ends_the_work(tokenizations):
    """Also between the configurations of one text: of seven keys in rows, and of two alone."""
    entries = [{"scheme": "gumbel", "key": KEYS[:7]}]
    entries += [{"scheme": name, "key": KEYS[0]} for name in ("unigram", "left_hash")]
    tokenizer = ticore.load_tokenizer("tiny-en")
    detector = WatermarkDetector.any(tokenizer, entries, tokenizations=tokenizations)
    texts = ["Nobody came, and nobody went home.", "It was cold, and nobody sang."]
    for detect in (
        partial(detector.detect, texts[0]),
        partial(detector.detect_ids, tokenizer.encode(texts[0])),
        partial(detector.detect_batch, texts),
    ):
        asked = []
        found = detect(tick=lambda asked=asked: asked.append(1))
        assert len(asked) > len(entries)
        for most in range(len(asked)):
            left = iter(range(most))

            def tick(left=left):
                if next(left, None) is None:
                    raise Enough

            with pytest.raises(Enough):
                detect(tick=tick)
        again = detect(tick=lambda: None)
        assert str(again) == str(found)


def test_any_finds_one_of_many_keys_and_says_which():
    schemes = {name: SCHEMES[name](KEYS[7], SIZE) for name in ("gumbel", "left_hash")}
    detector = WatermarkDetector.any(
        TOKENIZER, [{"scheme": list(schemes), "key": KEYS}, {"scheme": "unigram", "key": KEYS[0]}]
    )
    assert len(detector.names) == 19
    for at, scheme in enumerate(schemes.values()):
        found = detector.detect_ids(marked_ids(scheme, 1, 120))
        assert found.verdict == "watermarked"
        (one,) = found.found
        assert one is found.best or equal(one.detection, found.best.detection)
        assert one.name == detector.names[one.index]
        assert scheme.name in one.name
        assert scheme.key_fingerprint in one.name
        assert (at == 0) == (one.index < 9)
        assert found.p_value == pytest.approx(19 * 2 * min(
            one.detection.p_value, one.detection.segment.p_value
        ))  # fmt: skip
        values = json.loads(json.dumps(found.to_dict()))
        assert values["found"][0]["name"] == one.name
        assert values["configurations"] == 19
    nothing = detector.detect_ids(some_ids(1, 100, SIZE))
    assert (str(nothing), nothing.found) == ("no watermark found", ())


def all_green(scheme, count):
    """Ids of which all that can be scored are green."""
    ids = [0]
    while len(ids) <= count:
        others = (i for i in range(SIZE) if i not in ids)
        ids.append(next(i for i in others if scheme.evidence([*ids, i]).scores.all()))
    return ids


@pytest.mark.parametrize("configurations", [1, 2, 8, 40])
def test_text_is_too_short_if_the_strongest_watermark_among_so_many_is_not_found(configurations):
    keys = [bytes([number] * 16) for number in range(configurations)]
    detector = WatermarkDetector.any(TOKENIZER, [{"scheme": "left_hash", "key": keys}], fpr=1e-3)
    ids = all_green(SCHEMES["left_hash"](keys[-1], SIZE), 20)
    least = next(n for n in range(20) if 2 * configurations * 2.0**-n <= 1e-3)
    for scored in range(least - 3, least + 3):
        found = detector.detect_ids(ids[: scored + 1])
        assert (found.strongest_p_values == 2.0**-scored).all()
        assert found.best.index == configurations - 1
        assert found.too_short == found.best.detection.too_short == (scored < least)
        assert found.verdict == ("no watermark found" if found.too_short else "watermarked")
        assert found.to_dict()["too_short"] == found.too_short
        assert found.to_dict()["best"]["detection"]["too_short"] == found.too_short


def test_text_is_too_short_only_if_it_is_for_every_configuration():
    left, gumbel = ({"scheme": name, "key": KEYS} for name in ("left_hash", "gumbel"))
    other = {"scheme": "synthid", "config": {"keys": [1, 2, 3, 4, 5, 6], "ngram_len": 4}}
    ids = some_ids(1, 14, SIZE)
    for entries, too_short in (([left], True), ([left, gumbel], False), ([left, other], False)):
        found = WatermarkDetector.any(TOKENIZER, entries).detect_ids(ids)
        assert found.found == ()
        assert (found.too_short, found.too_short_for) == (too_short, len(KEYS))
    assert found.strongest_p_values[-1] < 1e-9


def test_strongest_evidence_that_is_not_known_is_no_reason_to_call_a_text_too_short():
    payload, gumbel = ({"scheme": name, "key": KEYS[0]} for name in ("gumbel_payload", "gumbel"))
    ids = some_ids(1, 14, SIZE)
    for entries in ([payload], [gumbel, payload]):
        found = WatermarkDetector.any(TOKENIZER, entries).detect_ids(ids)
        assert (found.found, found.too_short, found.too_short_for) == ((), False, 0)
        assert np.isnan(found.least_p_value)
    known = WatermarkDetector.any(TOKENIZER, [gumbel]).detect_ids(ids)
    assert known.least_p_value == 2 * known.strongest_p_values[0]


def test_what_is_found_is_not_counted_as_too_short():
    """Those that are found are corrected for fewer, the further back they are."""
    scheme, ids = SCHEMES["gumbel"](KEYS[0], SIZE, context=1), [1]
    while len(ids) < 6:
        ids.append(int(np.argmax(scheme.bias(ids[-1:], np.zeros(SIZE)))))
    first = {"scheme": "gumbel", "key": KEYS[0], "context": 1}
    keys = (bytes([a, b] * 8) for a in range(256) for b in range(256))
    green = next(
        key
        for key in keys
        if WatermarkDetector(TOKENIZER, "left_hash", key=key).detect_ids(ids).green == 5
    )
    detector = WatermarkDetector.any(
        TOKENIZER, [first, {"scheme": "left_hash", "key": [green, KEYS[3]]}], fpr=0.13
    )
    found = detector.detect_ids(ids)
    assert {one.index for one in found.found} == {0, 1}
    assert (
        2 * 3 * found.strongest_p_values[1] > detector.fpr
    )  # too short, if it were corrected for all
    assert (found.too_short_for, found.too_short) == (0, False)


@pytest.mark.parametrize(
    "entry",
    [
        {"scheme": WRONG},
        {"scheme": [WRONG]},
        {"scheme": "gumbel", WRONG: ""},
        {"key": "00" * 16, "context": WRONG},
        {"key": "00" * 16, "version": WRONG},
        {"name": [WRONG], "key": "00" * 16},
        {"scheme": "vllm", "config": {WRONG: 1}},
        {"scheme": "vllm", "config": {"key": WRONG}},
    ],
)
def test_an_error_shows_no_key_that_stands_in_the_wrong_place(entry):
    with pytest.raises(SettingsError, match="configuration 1: ") as raised:
        WatermarkDetector.any(TOKENIZER, [entry])
    shown = "".join(traceback.format_exception(raised.value))
    assert not any(WRONG[at : at + 24] in shown for at in range(len(WRONG) - 24))


def test_a_configuration_has_no_stretch_that_the_list_does_not_find():
    """A stretch that a detector of one key alone finds may be there by chance for one of many."""
    keys = [bytes([n]) * 16 for n in range(200)]
    scheme, rng = SCHEMES["left_hash"](keys[5], SIZE), np.random.default_rng(3)
    ids = rng.integers(SIZE, size=60).tolist()
    while sum(scheme.evidence(ids[59:]).scores) < 35:
        token = int(rng.integers(SIZE))
        if scheme.evidence([ids[-1], token]).scores[0]:
            ids.append(token)
    found = WatermarkDetector.any(TOKENIZER, [{"key": keys}]).detect_ids(ids)
    alone = WatermarkDetector(TOKENIZER, key=keys[5]).detect_ids(ids)
    assert found.best.index == 5
    assert alone.stretches
    assert found.stretches == found.best.detection.stretches == ()


def test_any_shows_the_stretches_of_several_configurations():
    gumbel, left = SCHEMES["gumbel"](KEYS[1], SIZE), SCHEMES["left_hash"](KEYS[2], SIZE, delta=4)
    ids = np.concatenate([
        some_ids(1, 150, SIZE), marked_ids(gumbel, 2, 60),
        some_ids(3, 150, SIZE), marked_ids(left, 4, 120), some_ids(5, 100, SIZE),
    ])  # fmt: skip
    detector = WatermarkDetector.any(TOKENIZER, [{"scheme": ["gumbel", "left_hash"], "key": KEYS}])
    found = detector.detect_ids(ids)
    first, second = found.stretches
    assert first.begin - 150 == pytest.approx(5, abs=12)
    assert first.end == pytest.approx(210, abs=12)
    assert second.begin == pytest.approx(360, abs=15)
    assert second.end == pytest.approx(480, abs=15)
    assert gumbel.key_fingerprint in first.configuration
    assert left.key_fingerprint in second.configuration
    assert len(found.found) == 2
    assert max(first.p_value, second.p_value) <= 1e-5
    alone = WatermarkDetector(TOKENIZER, gumbel).detect_ids(ids)
    (one,) = alone.stretches
    assert (one.begin, one.end) == (first.begin, first.end)
    assert alone.to_dict()["stretches"] == [one.to_dict()]


@pytest.mark.parametrize(("name", "seed", "length"), [("gumbel", 1, 40), ("left_hash", 0, 160)])
def test_any_finds_a_key_for_a_part_of_the_text_alone(name, seed, length):
    """Also where the whole text is better evidence for another key, by chance."""
    ids = np.concatenate(
        [
            some_ids(seed, 4000, SIZE),
            marked_ids(SCHEMES[name](KEYS[7], SIZE), seed, length),
            some_ids(seed + 50, 4000, SIZE),
        ]
    )
    detector = WatermarkDetector.any(TOKENIZER, [{"scheme": name, "key": KEYS}])
    found = detector.detect_ids(ids)
    assert found.p_values.argmin() != 7
    assert (found.verdict, [one.index for one in found.found]) == ("watermarked in part", [7])


def test_any_computes_long_texts_and_many_keys_in_parts(monkeypatch):
    """Keys and tokens in blocks of a few give what they give together."""
    ids = some_ids(1, 400, 40)
    lists = [{"scheme": ["gumbel", "self_hash"], "key": KEYS}]
    whole = WatermarkDetector.any(TOKENIZER, lists).detect_ids(ids)
    monkeypatch.setattr("ticore.schemes._many_keys._MOST_TOKENS", 50)
    monkeypatch.setattr("ticore.schemes._many_keys._CELLS", 120)
    monkeypatch.setattr("ticore.watermarking._any._MOST_SCORES", 1200)
    parts = WatermarkDetector.any(TOKENIZER, lists).detect_ids(ids)
    assert parts.p_values.tolist() == whole.p_values.tolist()
    assert parts.p_value == whole.p_value


def test_any_takes_agreements_schemes_and_other_engines():
    tokenizer = ticore.load_tokenizer("tiny-en")
    text = "It was late when they came home, and nobody had seen them. " * 3
    agreement = WatermarkAgreement.new("tiny-en", "gumbel", key=KEYS[0])
    config = {"key": 42}
    found = WatermarkDetector.any(
        tokenizer,
        [
            agreement,
            SCHEMES["left_hash"](KEYS[1], 4096),
            {"scheme": "vllm", "config": config, "name": "the server"},
            {"key": KEYS[2].hex()},
        ],
    ).detect(text)
    alone = [
        WatermarkDetector.from_agreement(agreement),
        WatermarkDetector(tokenizer, "left_hash", key=KEYS[1]),
        WatermarkDetector.for_vllm(tokenizer, config),
        WatermarkDetector(tokenizer, "left_hash", key=KEYS[2]),
    ]
    assert found.p_values.tolist() == [one.detect(text).p_value for one in alone]


ENGINES = [
    {"scheme": "vllm", "config": {"key": 41957}},
    {"scheme": "vllm", "config": {"algorithm": "dual_key_gumbel", "key": 41957}},
    {"scheme": "vllm", "config": {"algorithm": "sbw", "key": 41957, "context_width": 4}},
    {"scheme": "sglang", "config": {"key": "41957", "context_window": 4}},
    {"scheme": "sglang", "config": {"key": "41957", "key_b": "5", "context_window": 4}},
    {"scheme": "textseal", "config": {"secret_key": 41957}},
    {"scheme": "textseal", "config": {"secret_key": 41957, "watermark_type": "textseal"}},
    {"scheme": "transformers", "config": {"hashing_key": 41957}},
    {"scheme": "synthid", "config": {"keys": [41957, 2, 3], "ngram_len": 5}},
    {"scheme": "synthid", "config": {"keys": [41957, 2, 4], "ngram_len": 5}},
    {"scheme": "dipmark", "key": KEYS[0]},
    {"scheme": "dipmark", "key": KEYS[0], "alpha": 0.4},
]


def names(*entries):
    return WatermarkDetector.any(TOKENIZER, entries).names


def test_default_names_that_are_equal_are_numbered_in_their_order():
    vllm = [{"scheme": "vllm", "config": {"key": key}} for key in (41957, 41958)]
    assert names(*vllm) == ("vllm, context 4 (1)", "vllm, context 4 (2)")
    assert names(vllm[0], {"key": KEYS[0]})[0] == "vllm, context 4"
    halves = [{"key": KEYS[0], "gamma": gamma} for gamma in (0.5, 0.25)]
    (plain,) = names(halves[0])
    assert names(*halves) == (f"{plain} (1)", f"{plain} (2)")
    assert len({*names(*ENGINES)}) == len(ENGINES)
    assert "41957" not in str(names(*ENGINES))


def test_default_names_make_way_for_names_of_ones_own():
    vllm = [{"scheme": "vllm", "config": {"key": key}} for key in range(3)]
    own = {"key": KEYS[0], "name": "vllm, context 4 (1)"}
    assert names(*vllm[:2], own) == ("vllm, context 4 (2)", "vllm, context 4 (3)", own["name"])
    named = vllm[2] | {"name": "vllm, context 4"}
    assert names(vllm[0], named) == ("vllm, context 4 (1)", "vllm, context 4")


def test_names_of_combinations_that_are_equal_are_numbered():
    lists = [
        {"name": "mine", "key": KEYS[0], "context": [1, 2], "gamma": gamma} for gamma in (0.5, 0.25)
    ]
    first, other, second, another = names(*lists)
    assert (first[:-4], other[:-4]) == (second[:-4], another[:-4]) == names(lists[0])
    assert [name[-4:] for name in (first, other, second, another)] == [" (1)"] * 2 + [" (2)"] * 2


def test_what_is_found_says_which_of_several_with_one_default_name():
    vllm = [{"scheme": "vllm", "config": {"key": key}} for key in (1, 2)]
    detector = WatermarkDetector.any(TOKENIZER, vllm)
    found = detector.detect_ids(marked_ids(external_scheme("vllm", {"key": 2}, SIZE), 1, 60))
    assert [one.name for one in found.found] == ["vllm, context 4 (2)"]
    assert {one.configuration for one in found.stretches} == {"vllm, context 4 (2)"}


@pytest.mark.parametrize("entry", ENGINES, ids=str)
def test_engines_and_dipmark_that_are_repeated_are_refused(entry):
    """As mappings, and as an object; with another name they are the same."""
    scheme = (
        external_scheme(entry["scheme"], entry["config"], SIZE)
        if "config" in entry
        else make_scheme(entry["scheme"], entry["key"], SIZE, alpha=entry.get("alpha", 0.5))
    )
    for again in (entry, entry | {"name": "mine"}, scheme):
        with pytest.raises(SettingsError, match=r"configuration 3: .*configuration 2 again") as no:
            WatermarkDetector.any(TOKENIZER, [GOOD, entry, again])
        assert "41957" not in str(no.value)
        assert KEYS[0].hex() not in str(no.value)


def test_defaults_that_are_written_out_repeat_a_configuration():
    vllm = [{"scheme": "vllm", "config": {"key": 1, **more}} for more in ({}, {"context_width": 4})]
    with pytest.raises(SettingsError, match=r"configuration 2: .*configuration 1 again"):
        WatermarkDetector.any(TOKENIZER, vllm)


def test_scheme_of_another_class_is_itself_alone():
    class Own(VLLMGumbel):
        pass

    detector = WatermarkDetector.any(TOKENIZER, [VLLMGumbel(1), Own(1), Own(1)])
    assert detector.names == tuple(f"vllm, context 4 ({number})" for number in (1, 2, 3))


GOOD = {"scheme": "gumbel", "key": KEYS[0]}
PAYLOAD = {"scheme": "gumbel_payload", "key": KEYS[0]}
MINE = {"key": KEYS[1], "name": "mine"}
AGREEMENT = WatermarkAgreement.new("tiny-en", "gumbel", key=KEYS[0])


@pytest.mark.parametrize(
    ("entries", "error", "message"),
    [
        (GOOD, WrongTypeError, "configurations: expected a list, found a dict"),
        ("x", WrongTypeError, "configurations: expected a list, found a str"),
        ([], SettingsError, "found an empty list"),
        ([GOOD, GOOD], SettingsError, "configuration 2: .*that of configuration 1 again"),
        ([{"key": [KEYS[1], KEYS[1]]}], SettingsError, "configuration 1: .*configuration 1 again"),
        ([PAYLOAD, PAYLOAD], SettingsError, "configuration 2: .*that of configuration 1 again"),
        ([GOOD, 3], SettingsError, "configuration 2: expected a scheme with its key .* a int"),
        ([GOOD, {}], CredentialError, "configuration 2: expected a key, found none"),
        ([GOOD, {"key": b"short"}], CredentialError, "configuration 2: expected a key of 16 to 64"),
        ([{**GOOD, "gamma": 0.5}], SettingsError, "configuration 1: .*that gumbel has, found 'gam"),
        (
            [{**GOOD, "vocab_size": 5}],
            SettingsError,
            "configuration 1: .*found 'vocab_size'; it ha",
        ),
        ([{**GOOD, 3: 5}], SettingsError, "configuration 1: .*that gumbel has, found 3; it has c"),
        ([{**GOOD, "scheme": 5}], SettingsError, "configuration 1: scheme: expected its name, f"),
        ([{**GOOD, "scheme": "x"}], SettingsError, "configuration 1: .*'?x'?"),
        ([{**GOOD, "key": []}], SettingsError, "configuration 1: key: expected at least one"),
        ([{**GOOD, "name": 3}], SettingsError, "configuration 1: name: expected a non-empty text"),
        ([{**GOOD, "name": "cut \ud83d"}], SettingsError, "configuration 1: name: expected .*text"),
        ([MINE, GOOD | {"name": "mine"}], SettingsError, "configuration 2: name: .*of configurat"),
        ([GOOD | {"name": "all together"}], SettingsError, "configuration 1: name: .*choose anoth"),
        ([{**GOOD, "context": [0]}], SettingsError, "configuration 1: context: expected an int"),
        ([{"scheme": "vllm"}], SettingsError, "configuration 1: .*found no config"),
        ([{"scheme": "vllm", "config": {}}], SettingsError, "configuration 1: key: expected the w"),
        ([{"scheme": "vllm", "config": 3}], SettingsError, "configuration 1: vllm: expected the e"),
        *(
            ([ENGINES[0] | more], SettingsError, "configuration 1: .*expected scheme and config al")
            for more in ({"key": KEYS[0]}, {"gamma": 0.5}, {"context": 3})
        ),
        ([MINE, AGREEMENT], SettingsError, "configuration 2: tokenizer: expected the one that was"),
    ],
)
def test_any_refuses_a_bad_list_and_says_which_entry(entries, error, message):
    with pytest.raises(error, match=message) as refused:
        WatermarkDetector.any(TOKENIZER, entries)
    assert KEYS[0].hex() not in str(refused.value)


@pytest.mark.parametrize("tokenizations", ["read", "search"])
def test_many_texts_give_what_each_gives_alone(tokenizations):
    tokenizer = ticore.load_tokenizer("tiny-en")
    alone = [{"scheme": ["gumbel", "left_hash", "dipmark", "unigram"], "key": KEYS[:2]}]
    together = [{"scheme": "self_hash", "key": KEYS}, {"scheme": "gumbel_payload", "key": KEYS[0]}]
    detector = WatermarkDetector.any(tokenizer, alone + together, tokenizations=tokenizations)
    words = ["nobody", "came", "in", "a", "cold", "morning", "and", "went", "home", "the"]
    draw = np.random.default_rng(3)
    texts = [" ".join(draw.choice(words, size=size)) for size in (40, 3, 5000, 90, 1)]
    texts[3:3] = ["", "a\ud800b", 7]
    for text, found in zip(texts, detector.detect_batch(texts), strict=True):
        if isinstance(found, TicoreError):
            with pytest.raises(type(found), match=re.escape(str(found))):
                detector.detect(text)
        else:
            expected = detector.detect(text)
            assert found.to_dict() == expected.to_dict()
            assert equal(found.best.detection, expected.best.detection)


def test_any_gives_an_error_for_each_text_that_detect_refuses():
    detector = WatermarkDetector.any(ticore.load_tokenizer("tiny-en"), [GOOD])
    found = detector.detect_batch(["", "Nobody came, and nobody went home.", "a\ud800b"])
    assert [type(one).__name__ for one in found] == [
        "UnscorableTextError", "AnyDetection", "SettingsError",
    ]  # fmt: skip
    with pytest.raises(WrongTypeError, match="found one str"):
        detector.detect_batch("text")
    with pytest.raises(SettingsError, match="ids: expected token ids"):
        detector.detect_ids([1, 2, 3, 4, 5, 6, 5000])
    with pytest.raises(SettingsError, match="fpr: expected a rate"):
        WatermarkDetector.any(TOKENIZER, [GOOD], fpr=2)


def test_any_refuses_an_agreement_on_other_repeats():
    tokenizer = ticore.load_tokenizer("tiny-en")
    agreement = WatermarkAgreement.new("tiny-en", "gumbel", key=KEYS[0], repeats="all")
    with pytest.raises(SettingsError, match=r"configuration 2: repeats: expected once, .* all"):
        WatermarkDetector.any(tokenizer, [MINE, agreement])
    assert len(WatermarkDetector.any(tokenizer, [MINE, agreement], repeats="all").names) == 2


@pytest.mark.parametrize("scheme", ["gumbel", "left_hash"])
@pytest.mark.parametrize("keys", [KEYS, KEYS[:1]], ids=["many keys", "one key"])
def test_any_gives_an_error_for_each_list_of_ids_that_detect_ids_refuses(scheme, keys):
    detector = WatermarkDetector.any(TOKENIZER, [{"scheme": scheme, "key": keys}])
    good = np.arange(30)
    found = detector.detect_ids_batch([good, [*good, SIZE], [], good])
    assert [type(one).__name__ for one in found] == [
        "AnyDetection", "SettingsError", "UnscorableTextError", "AnyDetection",
    ]  # fmt: skip
    assert found[0].to_dict() == found[3].to_dict() == detector.detect_ids(good).to_dict()


@pytest.mark.parametrize("keys", [KEYS, KEYS[:1]], ids=["many keys", "one key"])
def test_configurations_that_a_text_is_too_short_for_keep_no_other_from_being_found(keys):
    """Whichever of them comes first in the list."""
    ids = marked_ids(SCHEMES["gumbel"](KEYS[0], SIZE, context=1), 1, 8)
    short, long = ({"scheme": "gumbel", "key": keys, "context": width} for width in (1, 8))
    for entries in ([short, long], [long, short]):
        found = WatermarkDetector.any(TOKENIZER, entries, fpr=0.5).detect_ids(ids)
        assert np.isnan(found.p_values).sum() == len(keys)
        assert found.best.name.endswith("context 1")


@pytest.mark.parametrize("fpr", [np.float32(0.001), Fraction(1, 1000)])
def test_any_writes_a_rate_of_any_kind_of_number_as_json(fpr):
    detector = WatermarkDetector.any(TOKENIZER, [{"scheme": "gumbel", "key": KEYS[0]}], fpr=fpr)
    found = detector.detect_ids(list(range(40)))
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
