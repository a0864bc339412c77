"""Many texts read side by side on JAX."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("jax", reason="jax or flax is not installed")
pytest.importorskip("flax", reason="jax or flax is not installed")

import jax

from tests.support.batch_schedules import largest_difference
from tests.support.jax_checkpoints import load, save, some_ids
from ticore.interfaces import BatchModel
from ticore.testing import BatchModelContract
from ticore_jax._runner import FIRST_CAPACITY

pytestmark = pytest.mark.slow


@pytest.mark.usefixtures("hardly_optimized")
@pytest.mark.parametrize("case", ["mistral, window", "gpt2"])
def test_batch_rows_have_the_logits_of_decoders(case: str, tmp_path: Path) -> None:
    model = load(save(tmp_path, case), dtype="float64")
    assert isinstance(model, BatchModel)
    for seed in range(5):
        assert largest_difference(model, seed=seed, rows=4) <= 1e-9


def test_batch_cache_grows_when_an_unread_row_is_full(folder: Path, tmp_path: Path) -> None:
    settings = json.loads((folder / "config.json").read_text())
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    longer = settings | {"max_position_embeddings": FIRST_CAPACITY + 20}
    (tmp_path / "config.json").write_text(json.dumps(longer))
    model = load(tmp_path, dtype="float64")
    prompts = [some_ids(FIRST_CAPACITY - 2, 1), some_ids(FIRST_CAPACITY, 2), some_ids(3)]
    batch, apart = model.start_batch(prompts), [model.start(prompt) for prompt in prompts]
    for token in some_ids(6):
        for row in (0, 2):
            apart[row].push(token)
        batch.push({0: token, 2: token})
    apart[1].push(7)
    batch.push({1: 7})
    for row, decoder in enumerate(apart):
        assert abs(batch.logits(row) - decoder.logits()).max() <= 1e-9


def test_batch_compiles_one_program_per_power_of_two(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, made = load(folder), []
    made_of = model._runner.made_of
    monkeypatch.setattr(
        model._runner, "made_of", lambda weights: (made.append(1), made_of(weights))[1]
    )
    for _ in range(2):
        batch = model.start_batch([[5]] * 7)
        assert batch is not None
        for row in range(7):
            batch.push({row: 3})
            batch.drop(row)
        assert len(made) == len((8, 4, 2, 1))


class TestPromises(BatchModelContract):
    tolerance = 1e-4


def test_batch_leaves_x64_disabled_outside(folder: Path) -> None:
    batch = load(folder, dtype="float64").start_batch([[5], [6]])
    batch.push({0: 7})
    batch.drop(0)
    batch.push({1: 7})
    assert batch.logits(1).dtype == "float64"
    assert not jax.config.read("jax_enable_x64")
