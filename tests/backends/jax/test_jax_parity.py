"""The JAX networks against transformers, and against the embedded runner in NumPy."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

pytest.importorskip("jax", reason="jax or flax is not installed")
pytest.importorskip("flax", reason="jax or flax is not installed")

import numpy as np
import safetensors.numpy

import ticore_embedded
from tests.support.jax_checkpoints import (
    CASES,
    CONTEXT,
    NumberTokenizer,
    expected_logits,
    load,
    reference,
    save,
    some_ids,
    torch,
)
from ticore.interfaces import LanguageModel
from ticore.registry import load_model, load_tokenizer
from ticore_jax import BACKEND

pytestmark = pytest.mark.slow

TINY_EN = Path(ticore_embedded.__file__).parent / "models" / "tiny-en"
TOLERANCE = {"float64": 1e-9, "float32": 1e-4}


@pytest.mark.usefixtures("hardly_optimized")
@pytest.mark.parametrize("case", CASES)
def test_logits_equal_those_of_transformers(case: str, tmp_path: Path) -> None:
    model, ids = load(save(tmp_path, case)), some_ids(CONTEXT)
    expected = expected_logits(reference(case), ids)
    assert np.ptp(expected) > 3  # else an absolute difference would say little
    np.testing.assert_allclose(model.score(ids), expected, rtol=0, atol=1e-4)

    decoder = model.start(ids[:5])
    for i in range(5, CONTEXT):
        np.testing.assert_allclose(decoder.logits(), expected[i], rtol=0, atol=1e-4)
        # A detour that is rewound leaves no trace.
        detour = (3, 4, 5)[: min(i % 4, model.context_length - i)]
        for token in detour:
            decoder.push(token)
        decoder.rewind(len(detour))
        if i < model.context_length:
            decoder.push(ids[i])


def test_float64_is_as_exact_as_transformers_in_float64(tmp_path: Path) -> None:
    """GPT-2, as transformers has the angles of the others in float32 whatever it computes in."""
    folder, ids = save(tmp_path, "gpt2"), some_ids(20)
    expected = expected_logits(copy.deepcopy(reference("gpt2")).double(), ids)
    scored = load(folder, dtype="float64").score(ids)
    np.testing.assert_allclose(scored, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("case", ["llama, yarn", "qwen2, window", "gpt2, untied"])
def test_float64_is_as_exact_as_the_embedded_backend(case: str, tmp_path: Path) -> None:
    """In files that both read; their portable digests are equal."""
    folder, ids = save(tmp_path, case), some_ids(CONTEXT)
    mine, theirs = (
        backend.load(str(folder), lambda place: NumberTokenizer(), {"dtype": "float64"})
        for backend in (BACKEND, ticore_embedded.BACKEND)
    )
    np.testing.assert_allclose(mine.score(ids), theirs.score(ids), rtol=0, atol=1e-9)
    assert mine.portable_digest() == theirs.portable_digest()
    assert mine.digest() != theirs.digest()  # the last bits differ


@pytest.mark.parametrize("name", ["tiny-en", "tiny-ja", "tiny-zh"])
def test_digests_of_bundled_models_tell_the_backends_apart(name: str) -> None:
    places = (f"jax:{TINY_EN.parent / name}", f"embedded:{name}")
    mine, theirs = (load_model(place, dtype="float64") for place in places)
    assert mine.digest() != theirs.digest()


@pytest.mark.parametrize("stored", [torch.bfloat16, torch.float16])
def test_half_precision_weights_are_converted_exactly(stored: torch.dtype, tmp_path: Path) -> None:
    halved = {name: t.to(stored) for name, t in reference("qwen2").state_dict().items()}
    # Saving empties the dictionary.
    folder, ids = save(tmp_path, "qwen2", state_dict=dict(halved)), some_ids(20)
    exact = type(reference("qwen2"))(reference("qwen2").config).eval()
    exact.load_state_dict({name: t.float() for name, t in halved.items()})
    scored = load(folder).score(ids)
    np.testing.assert_allclose(scored, expected_logits(exact, ids), rtol=0, atol=1e-4)


def test_bfloat16_logits_are_near_those_of_float32(folder: Path, model: LanguageModel) -> None:
    ids = some_ids(20)
    exact, rough = model.score(ids), load(folder, dtype="bfloat16").score(ids)
    assert rough.dtype == np.float32
    # Seven bits of mantissa, and errors of two layers.
    assert 1e-4 < np.abs(rough - exact).mean() / exact.std() < 0.03


def test_sharded_weights_give_the_same_logits(
    folder: Path, model: LanguageModel, tmp_path: Path
) -> None:
    sharded = save(tmp_path, max_shard_size="8KB")
    assert len(list(sharded.glob("*.safetensors"))) > 3
    same = load(sharded)
    assert np.array_equal(same.score(some_ids(20)), model.score(some_ids(20)))
    assert same.digest() == model.digest()


def test_gpt2_weights_without_prefix_are_read(tmp_path: Path) -> None:
    """They have no `transformer.` before the names, and carry their causal masks."""
    path = save(tmp_path, "gpt2") / "model.safetensors"
    ids = some_ids(20)
    expected = load(tmp_path).score(ids)
    tensors = {
        name.removeprefix("transformer."): tensor
        for name, tensor in safetensors.numpy.load_file(path).items()
    }
    tensors["h.0.attn.bias"] = np.tril(np.ones((1, 1, CONTEXT, CONTEXT), np.float32))
    safetensors.numpy.save_file(tensors, path)
    assert np.array_equal(load(tmp_path).score(ids), expected)


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_logits_equal_those_of_the_embedded_backend(dtype: str) -> None:
    expected = load_model("tiny-en", dtype="float64")
    model = BACKEND.load(str(TINY_EN), load_tokenizer, {"dtype": dtype})
    prompt = model.tokenizer.encode("He looked at her for a moment, and then he said that")
    assert (model.logit_width, model.context_length) == (4096, 2047)

    # More than a piece, and than a cache holds at first.
    ids = np.random.default_rng(1).integers(3, 4096, 530).tolist()
    scored = model.score(ids)
    assert scored.dtype == np.dtype(dtype)
    np.testing.assert_allclose(scored, expected.score(ids), rtol=0, atol=TOLERANCE[dtype])

    mine, theirs = model.start(prompt), expected.start(prompt)
    for i in range(30):
        np.testing.assert_allclose(mine.logits(), theirs.logits(), rtol=0, atol=TOLERANCE[dtype])
        token = int(theirs.logits().argmax())
        for decoder in (mine, theirs):
            decoder.push(token)
            decoder.rewind(i % 2)
            decoder.push(ids[i])
