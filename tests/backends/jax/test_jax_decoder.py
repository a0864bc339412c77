"""The promises of a Decoder on JAX, and of the model that starts it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("jax", reason="jax or flax is not installed")
pytest.importorskip("flax", reason="jax or flax is not installed")

import jax
import jax.numpy as jnp
import numpy as np
import safetensors.numpy

from tests.support.jax_checkpoints import CONTEXT, NumberTokenizer, load, some_ids
from ticore.errors import CapacityError
from ticore.interfaces import LanguageModel, ModelBackend
from ticore.testing import (
    ModelContract,
    ModelLimitsContract,
    ModelThreadsContract,
    TopDecoderContract,
)
from ticore_jax import BACKEND
from ticore_jax._device_logits import JaxLogits
from ticore_jax._runner import FIRST_CAPACITY, LENGTHS

pytestmark = pytest.mark.slow


class TestReading(ModelContract):
    tolerance = 1e-4
    lengths = (15, 16)


class TestLimits(ModelLimitsContract):
    pass


class TestThreads(ModelThreadsContract):
    pass


class TestTop(TopDecoderContract):
    @pytest.fixture(params=["float64", "float32", "bfloat16"])
    def model(self, request: pytest.FixtureRequest, folder: Path) -> LanguageModel:
        return load(folder, dtype=request.param)


def test_top_puts_nan_first() -> None:
    _, largest = JaxLogits(jnp.array([1.0, jnp.nan, jnp.inf, -jnp.inf])).top(3)
    np.testing.assert_array_equal(largest, [np.nan, np.inf, 1.0])


def test_logits_do_not_depend_on_growth_of_the_cache(folder: Path, tmp_path: Path) -> None:
    """Back below the first capacity, the same bits follow as before it was left."""
    settings = json.loads((folder / "config.json").read_text())
    settings["max_position_embeddings"] = FIRST_CAPACITY + 100
    long = load(_changed(folder, tmp_path, settings))
    ids = some_ids(FIRST_CAPACITY + 10)
    near = FIRST_CAPACITY - 5
    decoder, rows = long.start(ids[:near]), []
    for token in ids[near:]:
        rows.append(decoder.logits())
        decoder.push(token)
    decoder.rewind(len(rows))
    for token, row in zip(ids[near:], rows, strict=True):
        assert np.array_equal(decoder.logits(), row)
        decoder.push(token)
    np.testing.assert_allclose(long.score(ids)[near:], rows, rtol=0, atol=1e-4)


def _changed(folder: Path, copy: Path, settings: dict[str, object]) -> Path:
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    (copy / "config.json").write_text(json.dumps(settings))
    return copy


def test_prompt_pieces_fit_into_the_cache() -> None:
    assert all(LENGTHS[-1] % length == 0 for length in LENGTHS)
    assert FIRST_CAPACITY % LENGTHS[-1] == 0


def test_model_reports_width_and_context_of_its_config(model: LanguageModel) -> None:
    backend: ModelBackend = BACKEND
    assert backend.summary
    assert backend.shipped == {}
    assert (model.logit_width, model.context_length) == (50, CONTEXT - 1)
    assert model.eos_ids == {2}


def test_model_may_have_more_logits_than_tokens(folder: Path) -> None:
    padded = BACKEND.load(str(folder), lambda place: NumberTokenizer(vocab_size=40), {})
    assert (padded.tokenizer.vocab_size, padded.logit_width) == (40, 50)
    padded.start([5]).push(49)


def test_digest_changes_with_what_shapes_the_logits(folder: Path, tmp_path: Path) -> None:
    settings = json.loads((folder / "config.json").read_text())
    tensors = safetensors.numpy.load_file(folder / "model.safetensors")
    for name in "ab":
        (tmp_path / name).mkdir()
    theta = _changed(folder, tmp_path / "a", settings | {"rope_scaling": {"rope_theta": 7.0}})
    weights = _changed(folder, tmp_path / "b", settings)
    tensors["model.norm.weight"][0] += 1e-3
    safetensors.numpy.save_file(tensors, weights / "model.safetensors")
    models = [
        load(folder),
        load(folder, dtype="bfloat16"),
        load(theta),
        load(weights),
        BACKEND.load(str(folder), lambda place: NumberTokenizer(name="other"), {}),
    ]
    assert len({model.digest() for model in models}) == 5
    assert load(folder).digest() == models[0].digest()


class TestTypes:
    def test_model_leaves_x64_disabled_outside(self, folder: Path) -> None:
        decoder = load(folder, dtype="float64").start([5])
        decoder.push(6)
        assert decoder.logits().dtype == np.float64
        assert jnp.ones(2).dtype == jnp.float32
        assert not jax.config.read("jax_enable_x64")

    def test_logits_do_not_depend_on_the_callers_x64_setting(
        self, folder: Path, model: LanguageModel
    ) -> None:
        expected = model.score(some_ids(20))
        with jax.enable_x64(True), jax.default_matmul_precision("bfloat16"):
            scored = load(folder).score(some_ids(20))
        assert scored.dtype == np.float32
        assert np.array_equal(scored, expected)


def test_start_token_is_read_before_every_text(
    folder: Path, model: LanguageModel, tmp_path: Path
) -> None:
    copied = _changed(folder, tmp_path, json.loads((folder / "config.json").read_text()))
    (copied / "tokenizer_config.json").write_text('{"add_bos_token": true}')
    started, ids = load(copied), some_ids(model.context_length)
    # The other model reads the same ids when they are its text.
    np.testing.assert_allclose(started.score(ids), model.score([1, *ids])[1:], rtol=0, atol=1e-4)
    assert np.array_equal(started.start(ids[:5]).logits(), model.start([1, *ids[:5]]).logits())
    assert started.digest() != model.digest()
    decoder = started.start(ids[:-1])
    decoder.push(3)
    with pytest.raises(CapacityError, match="39"):
        decoder.push(3)
