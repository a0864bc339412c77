"""What is watermarked is found, what is not is not, and part of a text is found where it stands."""

import json
import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ticore
from tests.support.slow import slow_unless
from tests.support.toy_models import ToyTokenizer
from ticore.errors import (
    CredentialError,
    SettingsError,
    TicoreError,
    UnscorableTextError,
    WrongTypeError,
)
from ticore.schemes import (
    EXTERNAL_SCHEMES,
    SCHEMES,
    external_scheme,
    key_fingerprint,
)
from ticore.schemes.external import TransformersKGW
from ticore.watermarking import DetectionTarget

KEY = bytes(range(32))
CONTINUED = [
    "It was late when", "The morning was cold and", "My dear friend,", "In the old days the",
    "He looked at the sea and", "Nobody had told her that", "The weather in spring",
    "There is no doubt that", "When the train had left,", "The king and his",
]  # fmt: skip
VARIANTS = [
    *((name, {}) for name in SCHEMES),
    *((name, {"greens": "exact"}) for name in ("left_hash", "self_hash", "unigram")),
]


@pytest.fixture(scope="module")
def model():
    return ticore.load_model("tiny-en", dtype="float32")


@pytest.mark.parametrize("name", slow_unless(["left_hash"], SCHEMES))
def test_detect_finds_the_watermark_under_its_key_alone(model, name):
    """Of twenty texts of 200 tokens for each scheme, one may be missed."""
    right = ticore.WatermarkDetector(model.tokenizer, name, key=KEY)
    wrong = ticore.WatermarkDetector(model.tokenizer, name, key=KEY[::-1])
    mark = ticore.Watermarker(model, name, key=KEY, seed=0, end_of_text=False)
    found = 0
    for written in mark.generate_batch(2 * CONTINUED, max_new_tokens=200):
        seen = right.detect(written.text)
        assert written.consistent
        assert seen.ids.tolist() == list(written.ids)
        assert seen.p_value == right.detect_ids(written.ids).p_value
        found += seen.p_value < 1e-5
        assert wrong.detect(written.text).p_value > 1e-5
    assert found >= 19


def random_ids(rng, count):
    return rng.zipf(1.3, size=count) % 4000


def marked_ids(scheme, rng, count):
    """Ids that a model without preferences writes with a watermark."""
    ids = random_ids(rng, 5).tolist()
    while len(ids) < count:
        logits = scheme.bias(ids[len(ids) - scheme.context :], rng.gumbel(size=4000))
        ids.append(int(np.argmax(logits)))
    return np.array(ids)


@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_detect_finds_a_marked_segment_where_it_stands(name, options):
    rng = np.random.default_rng(3)
    scheme = SCHEMES[name](KEY, 4000, **options)
    marked = marked_ids(scheme, rng, 300)
    ids = np.concatenate([random_ids(rng, 3000), marked, random_ids(rng, 3000)])
    seen = ticore.WatermarkDetector(ToyTokenizer(["a"] * 4000), scheme).detect_ids(ids)
    assert seen.segment.p_value < 1e-6
    assert seen.verdict == ("watermarked" if seen.p_value < 5e-6 else "watermarked in part")
    both = min(seen.segment.end, 3300) - max(seen.segment.begin, 3000)
    either = max(seen.segment.end, 3300) - min(seen.segment.begin, 3000)
    assert both / either > 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_detect_keeps_to_the_false_positive_rate(name, options):
    """Of 1,000 texts without a watermark, some of them repetitive, a twentieth at most."""
    rng = np.random.default_rng(5)
    wrong = segments = 0
    for n in range(1000):
        key = rng.bytes(16)
        detector = ticore.WatermarkDetector(
            ToyTokenizer(["a"] * 50), SCHEMES[name](key, 4000, **options), fpr=0.05
        )
        ids = random_ids(rng, 120)
        seen = detector.detect_ids(np.tile(ids[:30], 8) if n % 2 else ids)
        wrong += seen.verdict != "no watermark found"
        segments += seen.segment.p_value <= 0.05
    most = 1000 * 0.05 + 3 * math.sqrt(1000 * 0.05)
    assert wrong <= most
    assert segments <= most


def test_detect_exceeds_the_false_positive_rate_when_repeats_is_all():
    """The paper counts every token; a text that repeats itself then looks watermarked at times."""
    rng = np.random.default_rng(6)
    found = {"once": 0, "all": 0}
    for _ in range(200):
        scheme = SCHEMES["left_hash"](rng.bytes(16), 4000)
        ids = np.tile(random_ids(rng, 20), 40)
        for repeats in found:
            detector = ticore.WatermarkDetector(
                ToyTokenizer(["a"]), scheme, repeats=repeats, fpr=0.01
            )
            found[repeats] += detector.detect_ids(ids).p_value < 0.005
    assert found["once"] <= 5
    assert found["all"] > 50


@pytest.mark.parametrize("ids", [[7] * 60 + [8, 9] * 30, list(range(40)) * 3])
def test_repeats_are_not_drawn_without_replacement(ids):
    """More tokens than a list has, or than are green in it, may come from it."""
    plain = detector_of("unigram", {}, repeats="all")
    exact = detector_of("unigram", {"greens": "exact"}, repeats="all")
    greens = exact.detect_ids(ids).green
    expected = plain.scheme.null.tails(np.array([greens]), np.array([len(ids)]))
    found = exact.detect_ids(ids)
    assert [found.p_value] == expected.tolist()
    assert found.segment.p_value > 0
    of_list = ticore.WatermarkDetector.any(
        exact.tokenizer, [{"scheme": "unigram", "greens": "exact", "key": KEY}], repeats="all"
    ).detect_ids(ids)
    assert of_list.best.detection.p_value == found.p_value
    assert of_list.best.detection.segment == found.segment


def test_stretches_count_each_draw_once_also_when_repeats_is_all():
    """A phrase of a dozen green tokens that is said again and again is no marked stretch."""
    scheme, phrase = SCHEMES["left_hash"](KEY, SIZE), [0]
    while len(phrase) < 12:
        greens = (n for n in range(SIZE) if scheme.evidence([phrase[-1], n]).scores[0])
        phrase.append(next(n for n in greens if n not in phrase))
    ids = np.random.default_rng(1).integers(SIZE, size=100).tolist() + phrase * 30
    once, every = (
        detector_of("left_hash", {}, repeats=repeats).detect_ids(ids) for repeats in ("once", "all")
    )
    assert every.verdict != "no watermark found"
    assert once.stretches == every.stretches == ()


def test_detect_counts_each_draw_once():
    detector = ticore.WatermarkDetector(ToyTokenizer(["a"] * 9), "left_hash", key=KEY)
    seen = detector.detect_ids([1, 2, 1, 2, 1, 3])
    assert (seen.token_count, seen.scored) == (6, 3)
    assert seen.counted.tolist() == [False, True, True, False, False, True]
    assert np.isnan(seen.scores).tolist() == [True] + [False] * 5
    assert seen.scores[1] == seen.scores[3]
    assert seen.green == int(seen.scores[seen.counted].sum())
    assert ticore.WatermarkDetector(
        ToyTokenizer(["a"] * 9), "gumbel", key=KEY
    ).detect_ids(range(9)).green is None  # fmt: skip


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("text", ["", "a"])
def test_detect_refuses_a_text_that_is_too_short(model, name, text):
    detector = ticore.WatermarkDetector(model.tokenizer, name, key=KEY)
    if name == "unigram" and text:
        assert detector.detect(text).scored == 1
    else:
        with pytest.raises(UnscorableTextError, match="expected a text of more than"):
            detector.detect(text)


def test_detect_batch_gives_an_error_for_each_text_that_detect_refuses(model):
    detector = ticore.WatermarkDetector(model.tokenizer, "unigram", key=KEY)
    texts = ["It was late.", "", "Nobody came, and nobody went.", "a\ud800b"]
    for batch in (texts, texts[:3]):
        found = detector.detect_batch(batch)
        assert [type(one) for one in found[1:4:2]] == [UnscorableTextError, SettingsError][
            : len(batch) - 2
        ]
        for at in (0, 2):
            assert same(found[at], detector.detect(texts[at]))
    assert detector.detect_batch([]) == []


@pytest.mark.parametrize("wrong", [7, None, b"bytes", "\ud800"])
def test_what_is_no_text_has_an_error_in_its_place(wrong):
    tokenizer = ticore.load_tokenizer("tiny-en")
    found = ticore.WatermarkDetector(tokenizer, key=KEY).detect_batch(["It was late.", wrong])
    assert [isinstance(one, TicoreError) for one in found] == [False, True]


@pytest.mark.parametrize("wrong", [None, 7, [[1], [2, 3]], iter([1]), ["a"], [0.5]])
def test_what_is_no_list_of_ids_has_an_error_in_its_place(wrong):
    detector = ticore.WatermarkDetector(ticore.load_tokenizer("tiny-en"), key=KEY)
    good = list(range(20))
    found = detector.detect_ids_batch([good, wrong, good])
    assert [isinstance(one, SettingsError) for one in found] == [False, True, False]
    with pytest.raises(SettingsError, match="ids: expected one row of integers"):
        detector.detect_ids(wrong)


@pytest.mark.parametrize("wrong", [None, 5, "a text"])
def test_detect_batch_refuses_what_is_no_list_of_texts(wrong):
    detector = ticore.WatermarkDetector(ticore.load_tokenizer("tiny-en"), key=KEY)
    with pytest.raises(WrongTypeError, match="expected a list of texts, found one"):
        detector.detect_batch(wrong)


def test_detect_batch_takes_any_iterable():
    detector = ticore.WatermarkDetector(ticore.load_tokenizer("tiny-en"), key=KEY)
    assert same(detector.detect_batch(iter(["It was late."]))[0], detector.detect("It was late."))


@pytest.mark.parametrize("wrong", [None, 7, ["gumbel"]])
def test_detector_refuses_an_object_that_is_no_scheme(wrong):
    with pytest.raises(SettingsError, match="scheme: expected the name of a scheme, or an object"):
        ticore.WatermarkDetector(ticore.load_tokenizer("tiny-en"), wrong)


EVERY = [
    *VARIANTS,
    ("transformers", {"hashing_key": 9, "greenlist_ratio": 0.5}),
    ("transformers", {"hashing_key": 9, "seeding_scheme": "selfhash", "context_width": 3}),
    ("synthid", {"keys": [1, 2, 3, 4, 5, 6], "ngram_len": 4}),
    ("vllm", {"key": 42}),
    ("sglang", {"key": "0xabc", "key_b": "1"}),
    ("textseal", {"secret_key": 42, "watermark_type": "textseal", "ngram": 3}),
]
SIZE = 300


def detector_of(name, options, **others):
    tokenizer = ToyTokenizer(["a"] * SIZE)
    if name in EXTERNAL_SCHEMES:
        return getattr(ticore.WatermarkDetector, f"for_{name}")(tokenizer, options, **others)
    return ticore.WatermarkDetector(tokenizer, name, key=KEY, **options, **others)


def same(one, other):
    """Whether both are the same error, or all that they say is the same to the last bit."""
    if isinstance(one, TicoreError) or isinstance(other, TicoreError):
        return (type(one), str(one)) == (type(other), str(other))
    return all(
        np.array_equal(here, there, equal_nan=here.dtype.kind == "f")
        if isinstance(here := getattr(one, field.name), np.ndarray)
        else repr(here) == repr(there) and type(here) is type(there)
        for field in fields(one)
        for there in [getattr(other, field.name)]
    )


def attempt(detector, ids):
    try:
        return detector.detect_ids(ids)
    except TicoreError as error:
        return error


LISTS = st.lists(
    st.one_of(
        st.lists(st.integers(0, SIZE - 1), max_size=12),
        st.builds(
            lambda seed, length, kinds: np.random.default_rng(seed).integers(kinds, size=length),
            st.integers(0, 9),
            st.integers(0, 90),
            st.sampled_from([2, 9, SIZE]),
        ),
        st.sampled_from([[], [SIZE], [-1], [-1, -1, 3, 4, 5, 6], [1 << 63], [1.5, 2.0], [[1, 2]]]),
    ),
    max_size=8,
)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), EVERY)
@settings(max_examples=20, deadline=None)
@given(lists=LISTS, repeats=st.sampled_from(["once", "all"]), together=st.sampled_from([20, 8000]))
@example(lists=[[-1, -1, 3, 4, 5, 6], [3, 4, 5, 6, 7, 8]], repeats="once", together=8000)
@example(lists=[[3, 4, 5, 6, 7, 8], [-1, -1, 3, 4, 5, 6]], repeats="once", together=8000)
def test_detect_ids_batch_gives_what_detect_ids_gives(name, options, lists, repeats, together):
    detector = detector_of(name, options, repeats=repeats)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ticore.watermarking._given_texts, "_MOST_TOGETHER", together)
        found = detector.detect_ids_batch(lists)
    assert len(found) == len(lists)
    for one, ids in zip(found, lists, strict=True):
        assert same(one, attempt(detector, ids))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), EVERY)
def test_detect_ids_batch_gives_what_detect_ids_gives_when_lengths_differ(name, options):
    """Of any lengths, in tables of many rows; some are marked beyond all numbers."""
    detector = detector_of(name, options)
    rng = np.random.default_rng(4)
    lists = [rng.integers(SIZE, size=int(length)) for length in rng.exponential(250, size=40)]
    for one, ids in zip(detector.detect_ids_batch(lists), lists, strict=True):
        assert same(one, attempt(detector, ids))


def test_detect_ids_batch_gives_arrays_of_each_text_alone():
    """A detection's arrays are of its own text, and ids those that were given."""
    detector = detector_of("left_hash", {})
    first, second = detector.detect_ids_batch([np.array([1, 2, 3], np.uint8), [4, 5]])
    assert first.ids.tolist() == [1, 2, 3]
    assert first.ids.dtype == second.ids.dtype == np.int64
    assert np.isnan(second.scores).tolist() == [True, False]
    assert detector.detect_ids_batch([]) == []


@pytest.mark.parametrize("fpr", [np.float64(0.01), np.float32(0.01), Fraction(1, 100)])
def test_results_are_json_whatever_number_the_rate_was(fpr):
    detector = ticore.WatermarkDetector(ToyTokenizer(["a", "b"]), "gumbel", key=KEY, fpr=fpr)
    assert json.loads(json.dumps(detector.detect_ids([0, 1] * 9).to_dict()))["scored"] > 0


def test_detector_refuses_settings_out_of_range(model):
    tokenizer = model.tokenizer
    for fpr in (0, 1, -1, 2, float("nan"), "x"):
        with pytest.raises(SettingsError, match="fpr: expected a rate above 0 and below 1"):
            ticore.WatermarkDetector(tokenizer, key=KEY, fpr=fpr)
    with pytest.raises(SettingsError, match="repeats: expected one of once, all, found 'x'"):
        ticore.WatermarkDetector(tokenizer, key=KEY, repeats="x")
    with pytest.raises(CredentialError, match="found none"):
        ticore.WatermarkDetector(tokenizer)
    with pytest.raises(CredentialError, match="found 3"):
        ticore.WatermarkDetector(tokenizer, key=b"abc")
    with pytest.raises(SettingsError, match="lone surrogate"):
        ticore.WatermarkDetector(tokenizer, key=KEY).detect("a\ud800b")


CONFIGS = {
    "transformers": {"greenlist_ratio": 0.5, "hashing_key": 9},
    "synthid": {"keys": [1, 2, 3, 4, 5, 6], "ngram_len": 5},
    "vllm": {"key": 42},
    "sglang": {"key": "0xabc"},
    "textseal": {"secret_key": 42, "ngram": 2},
}


@pytest.mark.parametrize("engine", EXTERNAL_SCHEMES)
def test_detector_finds_nothing_in_other_text_for_each_engine(model, engine):
    text = model.tokenizer.decode(range(300, 400))
    make = getattr(ticore.WatermarkDetector, f"for_{engine}")
    seen = make(model.tokenizer, CONFIGS[engine]).detect(text)
    assert seen.verdict == "no watermark found"
    assert 1e-4 < seen.p_value <= 1
    assert 0 < seen.segment.p_value <= 1
    assert (seen.scheme, seen.version, seen.target.key) == (engine, None, None)


@pytest.mark.parametrize("engine", EXTERNAL_SCHEMES)
def test_detector_takes_an_engines_name_and_config_with_a_warning(model, engine):
    """The old spelling, which finds what the new one finds."""
    text = model.tokenizer.decode(range(300, 400))
    make = getattr(ticore.WatermarkDetector, f"for_{engine}")
    with pytest.warns(DeprecationWarning, match=rf"use WatermarkDetector.for_{engine}\("):
        old = ticore.WatermarkDetector(model.tokenizer, engine, config=CONFIGS[engine])
    assert same(old.detect(text), make(model.tokenizer, CONFIGS[engine]).detect(text))
    for wrong in ({"key": KEY}, {}, {"gamma": 0.5, "config": CONFIGS[engine]}):
        with pytest.raises(SettingsError, match=rf"for_{engine}\(tokenizer, config\)"):
            ticore.WatermarkDetector(model.tokenizer, engine, **wrong)
    with pytest.raises(SettingsError, match="settings that gumbel has, found config"):
        ticore.WatermarkDetector(model.tokenizer, "gumbel", key=KEY, config={})


def test_for_transformers_draws_lists_of_the_vocabulary_size_that_is_given(model):
    ids = list(range(300, 400))
    config = {"hashing_key": 9}
    expected = TransformersKGW(5000, hashing_key=9).evidence(ids).distinct().scores.sum()
    other = TransformersKGW(4096, hashing_key=9).evidence(ids).distinct().scores.sum()
    assert expected != other
    make = ticore.WatermarkDetector.for_transformers
    for detector in (
        make(model.tokenizer, config, vocab_size=5000),
        make(model.tokenizer, config | {"vocab_size": 5000}),
    ):
        assert detector.detect_ids(ids).green == expected
    assert make(model.tokenizer, config).detect_ids(ids).green == other
    both = make(model.tokenizer, config | {"vocab_size": 4096}, vocab_size=5000)
    assert both.detect_ids(ids).green == expected
    none = make(model.tokenizer, config | {"vocab_size": None}, vocab_size=5000)
    assert none.detect_ids(ids).green == expected


def test_for_transformers_reads_the_lists_of_a_gpu(model):
    ids, config = list(range(300, 400)), {"hashing_key": 9}
    expected = TransformersKGW(4096, hashing_key=9, cuda_threads=40_960).evidence(ids).distinct()
    make = ticore.WatermarkDetector.for_transformers
    for detector in (
        make(model.tokenizer, config, cuda_threads=40_960),
        make(model.tokenizer, config | {"cuda_threads": 40_960}),
    ):
        assert detector.detect_ids(ids).green == expected.scores.sum()
    assert make(model.tokenizer, config).detect_ids(ids).green != expected.scores.sum()


def test_for_synthid_takes_the_table_of_a_gpu_and_the_plain_mean(model):
    table = np.random.default_rng(1).integers(2, size=1 << 10)
    config = CONFIGS["synthid"] | {"sampling_table_size": 1 << 10}
    make = ticore.WatermarkDetector.for_synthid
    ids = list(range(300, 400))
    found = {
        make(model.tokenizer, config, **more).detect_ids(ids).p_value
        for more in ({}, {"sampling_table": table}, {"weighted": False})
    }
    assert len(found) == 3


def test_for_engines_takes_a_configuration_object(model):
    @dataclass
    class Config:
        key: int = 42

    class WithToDict:
        def to_dict(self):
            return {"key": 42}

    ids = list(range(300, 400))
    make = ticore.WatermarkDetector.for_vllm
    expected = make(model.tokenizer, {"key": 42}).detect_ids(ids).p_value
    for config in (Config(), WithToDict()):
        assert make(model.tokenizer, config).detect_ids(ids).p_value == expected
    for wrong in (3, Config, "{}"):
        with pytest.raises(SettingsError, match="vllm: expected the engine's own settings as a"):
            make(model.tokenizer, wrong)


def test_detection_says_what_was_looked_for(model):
    text = "It was late when they came home, and nobody had seen them."
    named = ticore.WatermarkDetector(
        model.tokenizer, "gumbel", key=KEY, version=1, fpr=0.01, tokenizer_place="tiny-en"
    )
    found = named.detect(text)
    assert found.target == named.target
    assert found.target == DetectionTarget("gumbel", "tiny-en", 0.01, 1, key_fingerprint(KEY))
    assert (found.scheme, found.version, found.looked_for) == ("gumbel", 1, "gumbel, version 1")
    unnamed = ticore.WatermarkDetector(model.tokenizer, key=KEY)
    assert unnamed.target.tokenizer == f"digest {model.tokenizer.digest()[:12]}"
    assert str(found) == "no watermark found"
    values = json.loads(json.dumps(found.to_dict()))
    assert values["key"] == key_fingerprint(KEY)
    assert (values["scheme"], values["version"], values["token_count"]) == ("gumbel", 1, 14)
    assert values["segment"].keys() == {"begin", "end", "p_value"}
    assert KEY.hex() not in json.dumps(values) + repr(found) + repr(named.target)
    with pytest.warns(DeprecationWarning, match="Detection.token_count"):
        assert found.tokens == found.token_count


def test_key_fingerprint_tells_keys_apart():
    names = {key_fingerprint(bytes([n] * 16)) for n in range(200)}
    assert len(names) == 200
    assert key_fingerprint(KEY) == key_fingerprint(KEY.hex())
    with pytest.raises(CredentialError, match="expected a key of 16 to 64 bytes, found 3"):
        key_fingerprint(b"abc")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), EVERY)
def test_detector_gives_right_answers_when_threads_share_it(name, options):
    """SynthID's caches are filled by whichever thread comes first."""
    rng = np.random.default_rng(4)
    lists = [rng.integers(SIZE, size=int(length)) for length in rng.exponential(200, size=60)]
    alone, shared = detector_of(name, options), detector_of(name, options)
    expected = [attempt(alone, ids) for ids in lists]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda ids: attempt(shared, ids), lists))
    for one, other in zip(found, expected, strict=True):
        assert same(one, other)


@pytest.mark.parametrize(("name", "options"), EVERY)
def test_detector_finds_the_same_when_it_is_pickled(name, options):
    ids = np.random.default_rng(4).integers(SIZE, size=100)
    detector = detector_of(name, options)
    before = detector.detect_ids(ids)
    assert same(pickle.loads(pickle.dumps(detector)).detect_ids(ids), before)


def test_detect_finds_synthid_where_it_begins(model):
    """Tokens picked for their bits: the stretch that speaks for it is found by its tilt."""
    scheme = scheme_of("synthid", {"keys": list(range(9, 29)), "ngram_len": 3})
    rng = np.random.default_rng(8)
    ids = rng.integers(300, 4000, size=400).tolist()
    while len(ids) < 700:
        few = rng.integers(300, 4000, size=4)
        scores = [scheme.evidence([*ids[-2:], int(one)]).scores[-1] for one in few]
        ids.append(int(few[np.argmax(scores)]))
    seen = ticore.WatermarkDetector(model.tokenizer, scheme).detect_ids(ids)
    assert seen.verdict == "watermarked"
    assert seen.segment.p_value < 1e-6
    assert seen.segment.begin > 350
    assert seen.segment.end > 680


def scheme_of(engine, config):
    return external_scheme(engine, config, 4096)


def test_ids_of_a_detection_are_the_detectors_own():
    ids = np.arange(30)
    found = detector_of("left_hash", {}).detect_ids(ids)
    ids[:] = 0
    assert found.ids.tolist() == list(range(30))


def test_detect_ids_batch_refuses_what_is_no_list():
    with pytest.raises(WrongTypeError, match="expected a list of lists of token ids, found one"):
        detector_of("left_hash", {}).detect_ids_batch(None)


def test_a_detector_takes_no_payload():
    tokenizer, message = ToyTokenizer(["a"] * SIZE), "payload: expected none, for a detector reads"
    with pytest.raises(SettingsError, match=message):
        ticore.WatermarkDetector(tokenizer, "gumbel_payload", key=KEY, payload="00000001")
    entry = {"scheme": "gumbel_payload", "key": KEY, "payload": "00000001"}
    with pytest.raises(SettingsError, match=message):
        ticore.WatermarkDetector.any(tokenizer, [entry])
