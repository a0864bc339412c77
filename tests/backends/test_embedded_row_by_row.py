"""Tokens of a known text that are read in one pass have the bits of those that are read alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ticore
from tests.support.embedded_checkpoints import (
    CONTEXT,
    GEMMA3,
    GROUPED,
    LLAMAS,
    Settings,
    load,
    random_tensors,
    some_ids,
    write_model,
)
from ticore.errors import CapacityError
from ticore.interfaces import LanguageModel, ManyTokenDecoder
from ticore_embedded import EmbeddedModel
from ticore_embedded import _row_by_row as module
from ticore_embedded._layers import Array, Linear
from ticore_embedded._row_by_row import ROWS, RowByRow, row_by_row

GPT2: Settings = {
    "model_type": "gpt2",
    "vocab_size": 50,
    "n_positions": CONTEXT,
    "n_embd": 20,  # no multiple of what a processor adds at once
    "n_layer": 2,
    "n_head": 4,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
NETWORKS: dict[str, Settings] = {
    **LLAMAS,
    "of version 2": GROUPED | {"ticore_version": 2},
    "odd widths": GROUPED | {"ticore_version": 2, "hidden_size": 40, "intermediate_size": 45},
    "biases": GROUPED | {"attention_bias": True},
    "gemma 3": GEMMA3,
    "gpt 2": GPT2,
}


@pytest.fixture(scope="module", params=["float64", "float32"])
def dtype(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module", params=NETWORKS)
def model(
    request: pytest.FixtureRequest, dtype: str, tmp_path_factory: pytest.TempPathFactory
) -> EmbeddedModel:
    settings = NETWORKS[request.param]
    folder = tmp_path_factory.mktemp("model")
    found = load(write_model(folder, settings, random_tensors(settings)), dtype=dtype)
    assert isinstance(found, EmbeddedModel)
    return found


def many(model: LanguageModel, prompt: list[int]) -> ManyTokenDecoder:
    decoder = model.start(prompt)
    assert isinstance(decoder, ManyTokenDecoder)
    return decoder


def assert_read_alike(model: LanguageModel, sizes: list[int], tokens: list[int]) -> None:
    """Blocks of these sizes, and single tokens in their place, have the same logits."""
    together, alone = many(model, [5, 6]), model.start([5, 6])
    for size in sizes:
        block, tokens = tokens[:size], tokens[size:]
        found = together.push_many(block)
        assert len(found) == size
        for token, row in zip(block, found, strict=True):
            alone.push(token)
            assert row.tobytes() == alone.logits().tobytes()
        assert together.ids == alone.ids
    for decoder in (together, alone):
        decoder.rewind(sizes[-1])
        decoder.push(7)
    assert together.logits().tobytes() == alone.logits().tobytes()


@settings(max_examples=3)
@given(sizes=st.lists(st.integers(1, 40), min_size=1, max_size=4), seed=st.integers(0, 99))
@example(sizes=[1, 2, ROWS, 3 * ROWS + 1, 5], seed=0)
def test_tokens_of_a_pass_have_the_bits_of_tokens_read_alone(
    model: EmbeddedModel, sizes: list[int], seed: int
) -> None:
    assert row_by_row(model.network) is not None
    assert_read_alike(model, sizes, some_ids(200, seed))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tiny-en", "tiny-ja", "tiny-zh"])
def test_bundled_models_read_blocks(name: str) -> None:
    model = ticore.load_model(name)
    assert isinstance(model, EmbeddedModel)
    assert row_by_row(model.network) is not None
    assert_read_alike(model, [1, 17, 60], some_ids(78))


def test_a_network_with_other_bits_in_blocks_reads_one_by_one(
    model: EmbeddedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = Linear.product

    def inexact(self: RowByRow, x: Array) -> Array:
        return exact(self, x) * x.dtype.type(1 + 1e-6)

    monkeypatch.setattr(module, "_KNOWN", {})
    monkeypatch.setattr(RowByRow, "product", inexact)
    assert row_by_row(model.network) is None
    assert_read_alike(model, [3, 20], some_ids(30))


def test_nothing_is_read_where_the_context_has_no_room(model: EmbeddedModel) -> None:
    decoder = many(model, some_ids(CONTEXT - 4))
    before = decoder.logits()
    with pytest.raises(CapacityError):
        decoder.push_many(some_ids(9))
    assert np.array_equal(decoder.logits(), before)
    assert len(decoder.ids) == CONTEXT - 4
    decoder.push_many([5, 6])
