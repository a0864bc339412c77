"""Many texts read side by side, on random models of several architectures."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch or transformers is not installed")
pytest.importorskip("transformers", reason="torch or transformers is not installed")

import torch
import transformers

from tests.support.batch_schedules import largest_difference
from tests.support.torch_checkpoints import CONFIGS, CONTEXT, WIDTH, load, write
from ticore.errors import PromptError
from ticore.interfaces import BatchModel
from ticore.testing import BatchModelContract
from ticore_torch._batch import TorchBatchedForward
from ticore_torch._network import Network

TOLERANCE = {"float64": 1e-9, "float32": 1e-4}
SIZES = {
    "vocab_size": WIDTH,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": CONTEXT,
}
ATTENTIVE = {name: config for name, config in CONFIGS.items() if name != "lfm2"} | {
    # Every second layer has a window.
    "gemma3": transformers.Gemma3TextConfig(
        **SIZES,
        intermediate_size=48,
        num_key_value_heads=2,
        head_dim=8,
        sliding_window=6,
        layer_types=["sliding_attention", "full_attention"],
    ),
    "opt": transformers.OPTConfig(**SIZES, word_embed_proj_dim=32, ffn_dim=48),
}
# It is told no positions: texts cannot be padded.
BLOOM = transformers.BloomConfig(vocab_size=WIDTH, hidden_size=32, n_layer=2, n_head=4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    written: dict[str, Path] = {}

    def folder(name: str) -> Path:
        if name not in written:
            written[name] = write(tmp_path_factory.mktemp(name), ATTENTIVE[name])
        return written[name]

    return folder


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", ATTENTIVE)
def test_batch_rows_have_the_logits_of_decoders(
    name: str, dtype: str, folder: Callable[[str], Path]
) -> None:
    model = load(folder(name), dtype=dtype)
    assert isinstance(model, BatchModel)
    for seed in range(2):
        assert largest_difference(model, seed=seed) <= TOLERANCE[dtype]


@pytest.mark.slow
def test_batch_counts_sliding_windows_from_the_start_of_each_text(
    folder: Callable[[str], Path],
) -> None:
    """Rows lie in other slots than alone; what a window of six shows them is the same."""
    model = load(folder("mistral-window"), dtype="float64")
    for seed in range(5):
        found = largest_difference(model, seed=seed, rows=3, steps=40, longest=30)
        assert found <= TOLERANCE["float64"]


@pytest.mark.parametrize("config", [CONFIGS["lfm2"], BLOOM])
def test_start_batch_is_none_for_networks_that_cannot_pad(
    config: transformers.PreTrainedConfig, tmp_path: Path
) -> None:
    assert load(write(tmp_path, config)).start_batch([[5], [6, 7]]) is None


def test_batch_cache_is_as_long_as_the_longest_row(folder: Callable[[str], Path]) -> None:
    """Dropped rows, what was rewound in all of them, and padding of all are cut off."""
    rows = TorchBatchedForward(load(folder("llama")).network, torch.Tensor.numpy)
    rows.begin([[1, 2, 3], [1] * 9, [1] * 5])
    rows.drop(1)
    for _ in range(4):
        rows.push({0: 7, 2: 8})
    rows.rewind(0, 2)
    rows.rewind(2, 3)
    rows.push({0: 9, 2: 9})
    # Of 3 + 4 - 2 and 5 + 4 - 3 ids, and one more each.
    assert [tuple(layer.keys.shape[::2]) for layer in rows._cache.layers] == [(2, 7)] * 2
    rows.drop(2)
    rows.push({0: 9})
    assert [tuple(layer.keys.shape[::2]) for layer in rows._cache.layers] == [(1, 7)] * 2


def widths_of_passes(network: Network, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that grows by the number of prompts of each pass."""
    widths: list[int] = []
    read_prompts = network.read_prompts

    def recorded(prompts: Sequence[Sequence[int]], cache: transformers.Cache) -> torch.Tensor:
        widths.append(len(prompts))
        return read_prompts(prompts, cache)

    monkeypatch.setattr(network, "read_prompts", recorded)
    return widths


@pytest.mark.parametrize("name", ["llama", "mistral-window", "gpt2"])
def test_prompts_of_a_batch_are_read_together_and_as_alone(
    name: str, folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows whose prompts are equal, and rows whose prompts are read in several passes."""
    network = load(folder(name), dtype="float64").network
    draw = random.Random(0)
    prompts = [draw.choices(range(WIDTH), k=count) for count in (3, 20, 9, 20, 7)]
    prompts += [prompts[2], prompts[0]]
    widths = widths_of_passes(network, monkeypatch)
    for short, expected in ((64, [5]), (8, [2, 1, 2])):
        monkeypatch.setattr("ticore_torch._prompts.SHORT", short)
        rows = TorchBatchedForward(network, torch.Tensor.numpy)
        widths.clear()
        first = rows.begin(prompts)
        assert widths == expected
        second = rows.push(dict.fromkeys(range(len(prompts)), 5))
        for number, ids in enumerate(prompts):
            cache = network.new_cache()
            assert abs(first[number] - network.read(ids, cache).numpy()).max() < 1e-9
            assert abs(second[number] - network.read([5], cache).numpy()).max() < 1e-9


def test_prompts_are_read_one_by_one_where_logits_of_all_ids_are_made(
    folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    network, prompts = load(folder("llama"), dtype="float64").network, [[1, 2, 3], [4, 5], [6]]
    together = TorchBatchedForward(network, torch.Tensor.numpy).begin(prompts)
    monkeypatch.setattr(network, "keeps_last", False)
    monkeypatch.setattr(network, "_last_only", {})
    widths = widths_of_passes(network, monkeypatch)
    alone = TorchBatchedForward(network, torch.Tensor.numpy).begin(prompts)
    assert widths == [1, 1, 1]
    assert abs(alone - together).max() < 1e-9


def test_batch_reads_all_rows_in_one_pass_and_rewinds_in_none(
    folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load(folder("llama"))
    batch = model.start_batch([[5], [6, 7], [8]])
    assert batch is not None
    passes = []
    forward = model.network._forward
    monkeypatch.setattr(
        model.network, "_forward", lambda *given: (passes.append(given), forward(*given))[1]
    )
    before = batch.logits(1)
    batch.push({0: 1, 1: 2})
    batch.rewind(1, 1)
    assert batch.logits(1) is before
    batch.push({1: 3, 2: 3})
    batch.drop(0)
    assert len(passes) == 2


class TestPromises(BatchModelContract):
    tolerance = 0.1  # of bfloat16

    @pytest.fixture(params=["float32", "bfloat16"])
    def model(self, request: pytest.FixtureRequest, folder: Callable[[str], Path]) -> BatchModel:
        return load(folder("llama"), dtype=request.param)


def test_start_batch_names_the_row_with_nothing_to_read(tmp_path: Path) -> None:
    config = CONFIGS["gpt2"].__class__.from_dict(
        CONFIGS["gpt2"].to_dict() | {"bos_token_id": None, "eos_token_id": None}
    )
    with pytest.raises(PromptError, match="row 1: expected a prompt of at least one token"):
        load(write(tmp_path, config, pieces=False)).start_batch([[5], []])


def test_batch_logits_are_float32_when_the_model_is_bfloat16(folder: Callable[[str], Path]) -> None:
    batch = load(folder("llama"), dtype="bfloat16").start_batch([[5], [6]])
    assert batch is not None
    batch.push({1: 7})
    assert batch.logits(0).dtype == batch.logits(1).dtype == "float32"
