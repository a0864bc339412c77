"""SGLang's Gumbel watermark: its published vectors, and its algorithm in plain Python."""

import math
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.watermarking.engine_writers import SGLang
from ticore.errors import SettingsError
from ticore.schemes.external import SGLangGumbel

# SGLang, test/registered/unit/sampling/test_watermark_detector.py: known answers there.
KEYS = ("0123456789abcdef", "fedcba9876543210")
OTHER_KEYS = ("1111222233334444", "9999aaaabbbbcccc")
CONTEXTS = ([1, 2, 3, 4], [4, 3, 2, 1])
CONTEXT_HASHES = (1145416960, 47748951)
TOKENS = (0, 1, 17, 8191, 8192, 16396)
HASHES = (
    (1293512163, 858402549, 2305555132, 2450309311, 227333036, 2684237202),
    (221641642, 4015047244, 843143906, 1076944989, 3882127500, 2413234263),
)
FIRST_KEY_WRITES = (False, True)
# From the same file: what the first key writes after this prompt.
PROMPT = [100, 200, 300, 400]
# fmt: off
WRITTEN = [
    5, 33, 16, 8, 25, 28, 63, 47, 41, 27, 3, 6, 4, 13, 22, 2,
    48, 32, 2, 52, 27, 41, 60, 45, 53, 4, 3, 51, 19, 38, 3, 20,
]
# fmt: on

NEEDS_SGLANG = pytest.mark.skipif(find_spec("sglang") is None, reason="compares with SGLang")
BOTH = [{"key": KEYS[0]}, {"key": KEYS[1], "key_b": OTHER_KEYS[1], "mixing_probability": 0.3}]


def score_of(hashed):
    return -math.log1p(-(hashed + 0.5) / 2**32)


@pytest.mark.parametrize("which", [0, 1])
def test_scores_are_those_of_sglang(which):
    scheme = SGLangGumbel(KEYS[which])
    for token, hashed in zip(TOKENS, HASHES[which], strict=True):
        evidence = scheme.evidence([*CONTEXTS[which], token])
        assert evidence.scores.tolist() == pytest.approx([score_of(hashed)], rel=1e-14)
        assert evidence.seeds.tolist() == [CONTEXT_HASHES[which]]


@pytest.mark.parametrize("which", [0, 1])
def test_second_key_is_used_where_sglang_uses_it(which):
    keys = KEYS[which], OTHER_KEYS[which]
    one, other = SGLangGumbel(keys[0]), SGLangGumbel(keys[1])
    both = SGLangGumbel(keys[0], key_b=keys[1])
    ids = [*CONTEXTS[which], 17]
    expected = one if FIRST_KEY_WRITES[which] else other
    assert both.evidence(ids).scores == expected.evidence(ids).scores


def test_watermark_is_found_in_text_of_sglang():
    for key, expected in ((KEYS[0], True), ("deadbeef", False)):
        scheme = SGLangGumbel(key)
        p_value = scheme.null.p_value(scheme.evidence(PROMPT + WRITTEN).distinct())
        assert p_value < 1e-30 if expected else p_value > 0.01


def plain_murmur(words):
    """MurmurHash3_x86_32 with seed 0, one number at a time."""

    def turned(word, bits):
        return (word << bits | word >> 32 - bits) % 2**32

    state = 0
    for word in words:
        mixed = turned(word * 0xCC9E2D51 % 2**32, 15) * 0x1B873593 % 2**32
        state = (turned(state ^ mixed, 13) * 5 + 0xE6546B64) % 2**32
    state ^= 4 * len(words)
    state = (state ^ state >> 16) * 0x85EBCA6B % 2**32
    state = (state ^ state >> 13) * 0xC2B2AE35 % 2**32
    return state ^ state >> 16


def plain_hash(key, other, share, context, token):
    """A token's hash under one key, or two, as SGLang's documentation describes it."""
    seed = plain_murmur(context)
    halves = [key % 2**32, key // 2**32]
    if other is not None:
        others = [other % 2**32, other // 2**32]
        if plain_murmur([*halves, *others, seed]) >= int(share * 2**32):
            halves = others
    return plain_murmur([*halves, seed, token])


KEY = st.integers(0, 2**64 - 1)


@settings(max_examples=60)
@given(
    key=KEY,
    other=st.none() | KEY,
    share=st.floats(0.01, 0.99),
    width=st.integers(1, 6),
    ids=st.lists(st.integers(0, 2**32 - 1), max_size=14),
)
def test_scores_are_those_of_the_algorithm_in_plain_python(key, other, share, width, ids):
    scheme = SGLangGumbel(
        f"{key:x}",
        key_b=None if other is None else f"0x{other:X}",
        mixing_probability=share,
        context_window=width,
    )
    evidence = scheme.evidence(ids)
    expected = [
        score_of(plain_hash(key, other, share, ids[at - width : at], ids[at]))
        for at in range(width, len(ids))
    ]
    assert evidence.scores.tolist() == pytest.approx(expected, rel=1e-14)
    assert evidence.positions.tolist() == list(range(width, len(ids)))
    assert (evidence.draw_ids & 0xFFFFFFFF).tolist() == ids[width:]


@pytest.mark.parametrize("other", [None, OTHER_KEYS[0]])
def test_watermark_is_found_in_marked_text_alone(other):
    rng = np.random.default_rng(0)
    ids, number = list(PROMPT), None if other is None else int(other, 16)
    for _ in range(60):
        logits = 1.5 * rng.standard_normal(50)
        chances = np.exp(logits) / np.exp(logits).sum()
        hashes = [plain_hash(int(KEYS[0], 16), number, 0.3, ids[-4:], token) for token in range(50)]
        ids.append(int(np.argmax(np.log((np.array(hashes) + 0.5) / 2**32) / chances)))
    wrong = None if other is None else OTHER_KEYS[1]
    for keys, expected in (((KEYS[0], other), True), ((KEYS[1], wrong), False)):
        scheme = SGLangGumbel(keys[0], key_b=keys[1], mixing_probability=0.3)
        p_value = scheme.null.p_value(scheme.evidence(ids).distinct())
        assert p_value < 1e-6 if expected else p_value > 0.01


def test_from_config_takes_the_engines_settings():
    config = {"key": "0xAb", "key_b": None, "context_window": 2, "max_probability": 0.9}
    one, other = SGLangGumbel.from_config(config), SGLangGumbel("ab", context_window=2)
    assert one.context == 2
    assert (one.evidence(WRITTEN).scores == other.evidence(WRITTEN).scores).all()


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"key": "1" * 17},
        {"key": "0x"},
        {"key": "+1"},
        {"key": 42},
        {"key": "1", "key_b": "xyz"},
        {"key": "1", "context_window": 0},
        {"key": "1", "context_window": 65},
        {"key": "1", "mixing_probability": 1},
        {"key": "1", "mixing_probability": float("nan")},
        {"key": "1", "window": 4},
    ],
)
def test_from_config_refuses_wrong_settings(config):
    with pytest.raises(SettingsError, match=r"expected .*found .*;"):
        SGLangGumbel.from_config(config)


@pytest.mark.parametrize("ids", [[-1, 1], [1 << 32], [[1]], [0.5]])
def test_evidence_refuses_wrong_ids(ids):
    with pytest.raises(SettingsError, match=r"ids: expected .*found .*;"):
        SGLangGumbel("1").evidence(ids)


@NEEDS_SGLANG
@pytest.mark.parametrize("config", BOTH)
def test_p_values_are_those_of_sglangs_detector(config):
    from sglang.srt.sampling.watermarking import detector  # noqa: PLC0415  # not always there

    rng = np.random.default_rng(0)
    for width in [*range(1, 9), 64] * 20:
        ids = rng.integers(1 << 20, size=int(rng.integers(width + 1, 300))).tolist()
        scheme = SGLangGumbel(**config, context_window=width)
        evidence = scheme.evidence(ids).distinct()
        found = detector.WatermarkDetector(**config, context_window=width).detect_tokens(ids)
        assert found.combined.num_contexts == len(evidence.scores)  # no context is there twice
        assert found.combined.score == pytest.approx(evidence.scores.sum(), rel=1e-12)
        assert found.combined.p_value == pytest.approx(scheme.null.p_value(evidence), rel=1e-10)


@NEEDS_SGLANG
@pytest.mark.parametrize("config", BOTH)
def test_tokens_that_are_written_are_those_of_sglangs_sampler(config):
    writer, rng = SGLang(config, number=0, _vocab_size=5000), np.random.default_rng(0)
    scheme, ids = SGLangGumbel(**config), list[int]()
    for _ in range(600):
        logits = 2 * rng.standard_normal(5000).astype(np.float32)
        chosen = int(np.argmax(scheme.bias([*PROMPT, *ids][-4:], logits)))
        assert writer.choose(PROMPT, ids, logits) == chosen
        ids.append(chosen)
