"""Angles of positions: those of transformers, for random settings of every variant."""

from __future__ import annotations

import random

import numpy as np
import pytest

from ticore.backend_kit.network_config import Rope, angle_tables, parse_config
from ticore.backend_kit.network_config._rope import KINDS, frequencies

SIZES: dict[str, object] = {
    "model_type": "llama",
    "vocab_size": 50,
    "hidden_size": 64,
    "intermediate_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
}


def random_scaling(draw: random.Random, kind: str) -> dict[str, object]:
    numbers: dict[str, object] = {"rope_type": kind, "rope_theta": draw.choice([1e2, 1e4, 1e6])}
    if kind != "default":
        numbers["factor"] = draw.uniform(1, 40)
    if kind in ("llama3", "yarn"):
        numbers["original_max_position_embeddings"] = draw.choice([20, 500, 8192])
    if kind == "llama3":
        low = draw.uniform(0.5, 3)
        numbers |= {"low_freq_factor": low, "high_freq_factor": low + draw.uniform(0.5, 4)}
    if kind == "yarn":
        choices = {
            "beta_fast": draw.uniform(4, 64),
            "beta_slow": draw.uniform(0.5, 4),
            "truncate": draw.random() < 0.5,
            "attention_factor": draw.uniform(0.5, 2),
            "mscale": draw.uniform(0.5, 2),
            "mscale_all_dim": draw.uniform(0.5, 2),
        }
        numbers |= {name: value for name, value in choices.items() if draw.random() < 0.5}
    return numbers


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_angles_are_those_of_transformers(kind: str) -> None:
    torch = pytest.importorskip("torch", reason="it computes what is compared with")
    transformers = pytest.importorskip("transformers", reason="it computes what is compared with")
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding  # noqa: PLC0415  # skipped above if missing

    draw = random.Random(kind)
    for _ in range(20):
        settings = SIZES | {
            "max_position_embeddings": 9000,
            "rope_parameters": random_scaling(draw, kind),
            "head_dim": draw.choice([4, 32, 64]),
        }
        rope = parse_config(settings).rope
        assert rope is not None
        config = transformers.LlamaConfig(**{**settings, "model_type": "llama"})
        theirs = LlamaRotaryEmbedding(config)
        cos, sin = theirs(torch.ones(1), torch.tensor([[3, 70]]))
        tables = angle_tables(rope, int(settings["head_dim"]), 71)
        for mine, other in zip(tables, (cos, sin), strict=True):
            half = other[0].numpy()[:, : mine.shape[1]]
            np.testing.assert_allclose(mine[[3, 70]], half, rtol=0, atol=2e-5, err_msg=str(rope))


def test_angles_of_a_part_are_those_of_the_whole() -> None:
    rope = Rope("default", 10000.0)
    for whole, part in zip(angle_tables(rope, 8, 90), angle_tables(rope, 8, 90, 70), strict=True):
        assert np.array_equal(whole[70:], part)


def test_frequencies_are_finite_for_the_narrowest_heads() -> None:
    for kind in KINDS:
        scaling = {"rope_type": kind, "factor": 8.0, "low_freq_factor": 1, "high_freq_factor": 4}
        rope = parse_config(
            SIZES | {"max_position_embeddings": 64, "rope_parameters": scaling, "head_dim": 2}
        ).rope
        assert rope is not None
        assert np.isfinite(frequencies(rope, 2)).all()
