"""What is watermarked is found, what is not is not, and part of a text is found where it stands."""

import math
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ticore
from tests.models import ToyTokenizer
from ticore.errors import KeyFormatError, SettingsError, TicoreError, UnscorableTextError
from ticore.schemes import READERS as ENGINES
from ticore.schemes import SCHEMES, Evidence, Exponential, Greens, reader_named
from ticore.schemes.readers import TransformersKGW
from ticore.watermarking.detector import find_segment

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


@pytest.mark.parametrize("part", range(5))
@pytest.mark.parametrize("name", SCHEMES)
def test_what_was_watermarked_is_found_and_under_no_other_key(model, name, part):
    """A hundred texts of 200 tokens for each scheme, in five parts; in each one may be missed."""
    right = ticore.WatermarkDetector(model.tokenizer, name, key=KEY)
    wrong = ticore.WatermarkDetector(model.tokenizer, name, key=KEY[::-1])
    mark = ticore.Watermarker(model, name, key=KEY, seed=part, end_of_text=False)
    found = 0
    for written in mark.generate_batch(2 * CONTINUED, 200):
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
def test_a_marked_stretch_of_a_longer_text_is_found_where_it_stands(name, options):
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


@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_verdicts_keep_to_the_false_positive_rate(name, options):
    """Of 2,000 texts without a watermark, some of them repetitive, a twentieth at most."""
    rng = np.random.default_rng(5)
    wrong = segments = 0
    for n in range(2000):
        key = rng.bytes(16)
        detector = ticore.WatermarkDetector(
            ToyTokenizer(["a"] * 50), SCHEMES[name](key, 4000, **options), fpr=0.05
        )
        ids = random_ids(rng, 120)
        seen = detector.detect_ids(np.tile(ids[:30], 8) if n % 2 else ids)
        wrong += seen.verdict != "no watermark found"
        segments += seen.segment.p_value <= 0.05
    most = 2000 * 0.05 + 3 * math.sqrt(2000 * 0.05)
    assert wrong <= most
    assert segments <= most


def test_counting_repetition_is_what_breaks_the_rate():
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


def test_a_segment_by_hand():
    """Usual odds of 3 to 1 in marked text: bets on 3^0.7, 3^1.2 and 3^2 to 1."""
    null = Greens(0.5, 0.75)
    odds = [3**0.7, 3**1.2, 3**2]
    green = [math.log(2 * one / (one + 1)) for one in odds]
    loss = [-(math.log(2 * one / (one + 1)) + math.log(2 / (one + 1))) / 2 for one in odds]
    count = np.arange(8)
    scores = np.array([0, 0, 1, 1, 1, 1, 0, 0], dtype=float)
    segment = find_segment(null, Evidence(count + 3, count, count, scores))
    assert (segment.begin, segment.end) == (5, 9)
    parts = [
        (math.exp(4 * g) - 4 * g - 1) / (8 * lost) for g, lost in zip(green, loss, strict=True)
    ]
    assert segment.p_value == pytest.approx(3 / sum(parts))
    scores = np.ones(40)
    count = np.arange(40)
    segment = find_segment(null, Evidence(count, count, count, scores))
    parts = [
        (math.exp(40 * g) - 40 * g - 1) / (40 * lost) for g, lost in zip(green, loss, strict=True)
    ]
    assert segment.p_value == pytest.approx(3 / sum(parts))
    nothing = find_segment(Exponential(), Evidence(count, count, count, np.zeros(40)))
    assert (nothing.begin, nothing.end, nothing.p_value) == (0, 0, 1.0)


def test_what_counts_and_what_does_not():
    detector = ticore.WatermarkDetector(ToyTokenizer(["a"] * 9), "left_hash", key=KEY)
    seen = detector.detect_ids([1, 2, 1, 2, 1, 3])
    assert (seen.tokens, seen.scored) == (6, 3)
    assert seen.counted.tolist() == [False, True, True, False, False, True]
    assert np.isnan(seen.scores).tolist() == [True] + [False] * 5
    assert seen.scores[1] == seen.scores[3]
    assert seen.green == int(seen.scores[seen.counted].sum())
    assert ticore.WatermarkDetector(
        ToyTokenizer(["a"] * 9), "gumbel", key=KEY
    ).detect_ids(range(9)).green is None  # fmt: skip


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("text", ["", "a"])
def test_a_text_that_is_too_short_is_refused(model, name, text):
    detector = ticore.WatermarkDetector(model.tokenizer, name, key=KEY)
    if name == "unigram" and text:
        assert detector.detect(text).scored == 1
    else:
        with pytest.raises(UnscorableTextError, match="expected a text of more than"):
            detector.detect(text)


def test_a_batch_is_looked_at_text_by_text(model):
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


EVERY = [
    *VARIANTS,
    ("transformers", {"hashing_key": 9, "greenlist_ratio": 0.5}),
    ("transformers", {"hashing_key": 9, "seeding_scheme": "selfhash", "context_width": 3}),
    ("synthid", {"keys": [1, 2, 3, 4, 5, 6], "ngram_len": 4}),
    ("vllm", {"key": 42}),
    ("sglang", {"key": "0xabc", "key_b": "1"}),
]
SIZE = 300


def detector_of(name, options, **others):
    tokenizer = ToyTokenizer(["a"] * SIZE)
    given = {"config": options} if name in ENGINES else {"key": KEY, **options}
    return ticore.WatermarkDetector(tokenizer, name, **given, **others)


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


def alone(detector, ids):
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


@pytest.mark.parametrize(("name", "options"), EVERY)
@settings(max_examples=20, deadline=None)
@given(lists=LISTS, repeats=st.sampled_from(["once", "all"]), together=st.sampled_from([20, 8000]))
@example(lists=[[-1, -1, 3, 4, 5, 6], [3, 4, 5, 6, 7, 8]], repeats="once", together=8000)
@example(lists=[[3, 4, 5, 6, 7, 8], [-1, -1, 3, 4, 5, 6]], repeats="once", together=8000)
def test_a_batch_says_what_each_list_alone_does(name, options, lists, repeats, together):
    detector = detector_of(name, options, repeats=repeats)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ticore.watermarking.detector, "_MOST_TOGETHER", together)
        found = detector.detect_ids_batch(lists)
    assert len(found) == len(lists)
    for one, ids in zip(found, lists, strict=True):
        assert same(one, alone(detector, ids))


@pytest.mark.parametrize(("name", "options"), EVERY)
def test_long_and_short_lists_side_by_side(name, options):
    """Of any lengths, in tables of many rows; some are marked beyond all numbers."""
    detector = detector_of(name, options)
    rng = np.random.default_rng(4)
    lists = [rng.integers(SIZE, size=int(length)) for length in rng.exponential(250, size=40)]
    for one, ids in zip(detector.detect_ids_batch(lists), lists, strict=True):
        assert same(one, alone(detector, ids))


def test_what_a_batch_says_can_be_kept_by_itself():
    """A detection's arrays are of its own text, and ids those that were given."""
    detector = detector_of("left_hash", {})
    first, second = detector.detect_ids_batch([np.array([1, 2, 3], np.uint8), [4, 5]])
    assert first.ids.tolist() == [1, 2, 3]
    assert first.ids.dtype == second.ids.dtype == np.int64
    assert np.isnan(second.scores).tolist() == [True, False]
    assert detector.detect_ids_batch([]) == []


def test_settings_are_checked(model):
    tokenizer = model.tokenizer
    for fpr in (0, 1, -1, 2, float("nan")):
        with pytest.raises(SettingsError, match="fpr: expected a rate above 0 and below 1"):
            ticore.WatermarkDetector(tokenizer, key=KEY, fpr=fpr)
    with pytest.raises(SettingsError, match="repeats: expected once or all, found 'x'"):
        ticore.WatermarkDetector(tokenizer, key=KEY, repeats="x")
    with pytest.raises(KeyFormatError, match="found none"):
        ticore.WatermarkDetector(tokenizer)
    with pytest.raises(KeyFormatError, match="found 3"):
        ticore.WatermarkDetector(tokenizer, key=b"abc")
    with pytest.raises(SettingsError, match="lone surrogate"):
        ticore.WatermarkDetector(tokenizer, key=KEY).detect("a\ud800b")


def test_watermarks_of_other_engines_are_read_by_name(model):
    tokenizer = model.tokenizer
    configs = {
        "transformers": {"greenlist_ratio": 0.5, "hashing_key": 9},
        "synthid": {"keys": [1, 2, 3, 4, 5, 6], "ngram_len": 5},
        "vllm": {"key": 42},
        "sglang": {"key": "0xabc"},
    }
    text = model.tokenizer.decode(range(300, 400))
    for engine, config in configs.items():
        seen = ticore.WatermarkDetector(tokenizer, engine, config=config).detect(text)
        assert seen.verdict == "no watermark found"
        assert 1e-4 < seen.p_value <= 1
        assert 0 < seen.segment.p_value <= 1
    padded = {"hashing_key": 9, "vocab_size": 5000}
    reader = TransformersKGW(5000, hashing_key=9)
    ids = tokenizer.encode(text)
    seen = ticore.WatermarkDetector(tokenizer, "transformers", config=padded).detect_ids(ids)
    assert seen.green == reader.evidence(ids).distinct().scores.sum()
    assert (
        seen.green
        != scheme_of("transformers", {"hashing_key": 9}).evidence(ids).distinct().scores.sum()
    )
    with pytest.raises(SettingsError, match="vllm: expected this engine's own settings as config"):
        ticore.WatermarkDetector(tokenizer, "vllm", key=KEY)
    with pytest.raises(SettingsError, match="config: expected with an engine's name"):
        ticore.WatermarkDetector(tokenizer, "gumbel", key=KEY, config={})


def test_synthid_is_found(model):
    """Tokens picked for their bits: the stretch that speaks for it is found by its tilt."""
    reader = scheme_of("synthid", {"keys": list(range(9, 29)), "ngram_len": 3})
    rng = np.random.default_rng(8)
    ids = rng.integers(300, 4000, size=400).tolist()
    while len(ids) < 700:
        few = rng.integers(300, 4000, size=4)
        scores = [reader.evidence([*ids[-2:], int(one)]).scores[-1] for one in few]
        ids.append(int(few[np.argmax(scores)]))
    seen = ticore.WatermarkDetector(model.tokenizer, reader).detect_ids(ids)
    assert seen.verdict == "watermarked"
    assert seen.segment.p_value < 1e-6
    assert seen.segment.begin > 350
    assert seen.segment.end > 680


def scheme_of(engine, config):
    return reader_named(engine, config, 4096)
