"""vLLM's Gumbel watermark: its published vectors, and its algorithm in plain Python."""

import math
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ticore.errors import SettingsError
from ticore.schemes.external import VLLMGumbel

# vLLM, tests/watermarking/watermarking_goldens.json, schema 3: what it generated from its test
# logits without a prompt, and what its detector found, each context being different.
# fmt: off
CW4 = [
    46, 24, 45, 80, 14, 26, 22, 124, 21, 45, 16, 30, 5, 89, 0, 10, 27, 70, 80, 62, 1, 11, 117, 53,
    10, 45, 94, 37, 43, 22, 78, 49, 119, 9, 22, 118, 82, 75, 32, 24, 84, 27, 122, 66, 78, 64, 124,
    17, 91, 12, 51, 15, 75, 64, 127, 45, 112, 15, 83, 114, 121, 109, 24, 77,
]
CW5 = [
    21, 10, 73, 94, 19, 61, 85, 42, 95, 116, 105, 47, 58, 36, 74, 42, 95, 70, 34, 37, 125, 29, 64,
    85, 70, 73, 44, 90, 47, 107, 25, 70, 98, 41, 1, 51, 8, 57, 99, 88, 80, 119, 55, 15, 121, 43,
    124, 56, 34, 87, 115, 65, 4, 110, 53, 77, 58, 126, 19, 72, 64, 113, 109, 123,
]
CW16 = [
    46, 42, 38, 34, 30, 26, 22, 18, 14, 10, 6, 2, 44, 125, 121, 117, 88, 6, 97, 12, 86, 121, 0,
    106, 98, 119, 101, 36, 47, 110, 25, 24, 102, 6, 101, 37, 114, 50, 53, 127, 109, 80, 69, 5, 96,
    60, 14, 42, 38, 58, 118, 79, 4, 110, 42, 102, 66, 80, 72, 33, 78, 106, 67, 52,
]
# fmt: on


@pytest.mark.parametrize(
    ("key", "width", "ids", "score", "p_value"),
    [
        (42, 4, CW4, 296.27295787856264, 7.128196280874065e-61),
        (43, 4, CW4, 63.25096716585621, 0.5208447936891313),
        (1 << 32, 5, CW5, 263.04926919645095, 1.1027575381260964e-49),
        ((1 << 64) - 1, 16, CW16, 220.2767573421712, 6.166345567165398e-36),
    ],
)
def test_scores_are_those_of_vllm(key, width, ids, score, p_value):
    scheme = VLLMGumbel(key, context_width=width)
    evidence = scheme.evidence([-1] * width + ids)
    assert len(evidence) == 64
    assert evidence.scores.sum() == pytest.approx(score, rel=1e-9)
    assert scheme.null.p_value(evidence) == pytest.approx(p_value, rel=1e-6)


@pytest.mark.skipif(find_spec("vllm") is None, reason="vllm is not installed")
def test_scores_are_those_of_the_installed_vllm():
    from vllm.v1.watermarking import gumbel  # noqa: PLC0415  # not always there

    rng = np.random.default_rng(1)
    for number in range(200):
        key, width = int(rng.integers(2**63)), int(rng.integers(1, 9))
        ids = rng.permutation(5000)[: rng.integers(5, 80)].tolist()
        theirs = gumbel.GumbelWatermarkDetector(key, width).detect(ids)
        evidence = VLLMGumbel(key, context_width=width).evidence([-1] * width + ids)
        assert evidence.scores.sum() == pytest.approx(theirs.score, rel=1e-9), number


def test_words_are_those_of_vllm():
    """tests/watermarking/test_prf.py there: key 42, contexts 1 to 4 and 4 to 7, tokens 7 and 8."""
    found = [
        VLLMGumbel(42)._words(np.array([[*context, token]], np.uint64))[1].item()
        for context in ((1, 2, 3, 4), (4, 5, 6, 7))
        for token in (7, 8)
    ]
    assert found == [425429266, 2706218805, 2494036831, 3424185538]


def test_of_two_keys_derives_the_keys_of_vllm():
    """From the goldens as above: both keys that vLLM derives from key 42."""
    found = VLLMGumbel.of_two_keys(42, context_width=2)
    expected = [
        VLLMGumbel(key, context_width=2) for key in (37150756557148556, 15826636237805488045)
    ]
    for one, other in zip(found, expected, strict=True):
        assert (one.evidence(CW4).scores == other.evidence(CW4).scores).all()


def plain_philox(counter, key):
    counter, key = list(counter), list(key)
    for turn in range(10):
        if turn:
            key = [(key[0] + 0x9E3779B9) % 2**32, (key[1] + 0xBB67AE85) % 2**32]
        high0, low0 = divmod(0xD2511F53 * counter[0], 2**32)
        high1, low1 = divmod(0xCD9E8D57 * counter[2], 2**32)
        counter = [high1 ^ counter[1] ^ key[0], low1, high0 ^ counter[3] ^ key[1], low0]
    return counter


def plain_uniform(key, context, token):
    """u of one token, written from vLLM's description, one number at a time."""
    low, high = key % 2**32, key // 2**32
    state = [0x574D4358, len(context), 0, 0]
    for start in range(0, len(context), 4):
        block = [word % 2**32 for word in context[start : start + 4]]
        block += [2**32 - 1 - place for place in range(len(block), 4)]
        mixed = [one ^ other for one, other in zip(state, block, strict=True)]
        state = plain_philox(mixed, (low ^ start, high))
    counter = (token // 4, state[0], state[1], state[2])
    words = plain_philox(counter, (low ^ state[3], high ^ 0x574D544B))
    return float(np.float32((words[token % 4] // 2**8 + 1) / (2**24 + 1)))


@settings(max_examples=40)
@given(
    key=st.integers(0, 2**64 - 1),
    width=st.integers(1, 9),
    ids=st.lists(st.integers(0, 2**32 - 1), max_size=14),
)
def test_scores_are_those_of_the_algorithm_in_plain_python(key, width, ids):
    evidence = VLLMGumbel(key, context_width=width).evidence(ids)
    expected = [
        -math.log1p(-plain_uniform(key, ids[at - width : at], ids[at]))
        for at in range(width, len(ids))
    ]
    assert evidence.scores.tolist() == pytest.approx(expected, rel=1e-14)
    assert evidence.positions.tolist() == list(range(width, len(ids)))
    assert (evidence.draw_ids & 0xFFFFFFFF).tolist() == ids[width:]
    assert ((evidence.seeds >= 0) & (evidence.seeds < 1 << 32)).all()


def test_watermark_is_found_in_marked_text_alone():
    rng = np.random.default_rng(0)
    ids, key = rng.integers(50, size=4).tolist(), 99
    for _ in range(60):
        logits = 1.5 * rng.standard_normal(50)
        noise = [-math.log(-math.log(plain_uniform(key, ids[-4:], token))) for token in range(50)]
        ids.append(int(np.argmax(logits + noise)))
    for scheme, expected in ((VLLMGumbel(key), True), (VLLMGumbel(key + 1), False)):
        p_value = scheme.null.p_value(scheme.evidence(ids).distinct())
        assert p_value < 1e-6 if expected else p_value > 0.01


def test_from_config_takes_the_engines_settings():
    config = {"algorithm": "gumbel", "key": 7, "context_width": 2, "deduplicate_contexts": "all"}
    one, other = VLLMGumbel.from_config(config), VLLMGumbel(7, context_width=2)
    assert one.context == 2
    assert (one.evidence(CW4).scores == other.evidence(CW4).scores).all()
    assert VLLMGumbel.from_config({"key": 7, "context_width": None}).context == 4


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"key": -1},
        {"key": 1 << 64},
        {"key": "42"},
        {"key": 1, "context_width": 0},
        {"key": 1, "context_width": 257},
        {"key": 1, "algorithm": "dual_key_gumbel"},
        {"key": 1, "prf": "hmac_sha256"},
        {"key": 1, "salt": 2},
    ],
)
def test_from_config_refuses_wrong_settings(config):
    with pytest.raises(SettingsError, match=r"expected .*found .*;"):
        VLLMGumbel.from_config(config)


@pytest.mark.parametrize("ids", [[-2, 1], [1, 2, 3, 4, -1], [1 << 32], [[1]], [0.5]])
def test_evidence_refuses_wrong_ids(ids):
    with pytest.raises(SettingsError, match=r"ids: expected .*found .*;"):
        VLLMGumbel(1).evidence(ids)
