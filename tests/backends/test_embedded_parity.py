"""The embedded runner against PyTorch: the network that bundled models were trained as, and the
models of transformers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed: it computes what is compared with")
pytest.importorskip("transformers", reason="transformers computes what is compared with")

import safetensors.torch
import torch
import transformers

import ticore
import ticore_embedded
from tests.support import torch_checkpoints
from tests.support.batch_schedules import largest_difference as largest_difference_of_rows
from tests.support.embedded_checkpoints import (
    CONTEXT,
    GROUPED,
    LLAMAS,
    TOLERANCE,
    Settings,
    Tensors,
    load,
    random_tensors,
    some_ids,
    write_files,
    write_model,
)
from tests.support.readings import largest_difference
from tests.support.slow import slow_unless
from tests.support.torch_checkpoints import COMMON
from ticore.interfaces import BatchModel
from ticore.registry import load_tokenizer
from training.network import Llama
from training.sizes import LlamaConfig

_GEMMA3 = COMMON | {
    "num_key_value_heads": 1,
    "head_dim": 12,
    "query_pre_attn_scalar": 9,
    "sliding_window": 6,
}
_YARN = {
    "rope_type": "yarn",
    "rope_theta": 100.0,
    "factor": 4.0,
    "original_max_position_embeddings": 10,
}
_LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 100.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 30,
}
FAMILIES = {
    "llama, biases, wide heads, yarn": transformers.LlamaConfig(
        **COMMON, attention_bias=True, mlp_bias=True, head_dim=12, rope_parameters=_YARN
    ),
    "llama, tied, llama3": transformers.LlamaConfig(
        **COMMON, tie_word_embeddings=True, rope_parameters=_LLAMA3
    ),
    "mistral, window": transformers.MistralConfig(**COMMON, sliding_window=6, head_dim=8),
    "qwen2": transformers.Qwen2Config(**COMMON, tie_word_embeddings=True),
    "gemma3": transformers.Gemma3TextConfig(**_GEMMA3, sliding_window_pattern=2),
    "gpt2": torch_checkpoints.CONFIGS["gpt2"],
}


@pytest.mark.parametrize("name", slow_unless(("gemma3",), FAMILIES))
def test_families_have_the_logits_of_transformers(name: str, tmp_path: Path) -> None:
    """In float64, read in every way, with and without a start token."""
    folder = torch_checkpoints.write(tmp_path, FAMILIES[name], pieces="llama" in name)
    if name == "gemma3":
        _write_older_config(folder)
    models = [
        backend.load(str(folder), load_tokenizer, {"dtype": "float64"})
        for backend in (ticore_embedded.BACKEND, torch_checkpoints.BACKEND)
    ]
    ids = np.random.default_rng(1).integers(0, torch_checkpoints.WIDTH, 35).tolist()
    assert np.ptp(models[0].score(ids)) > 3  # else an absolute difference would say little
    assert largest_difference(*models, ids) <= 1e-9
    embedded, reference = models
    assert embedded.start([]).logits() == pytest.approx(reference.start([]).logits(), abs=1e-9)
    assert isinstance(embedded, BatchModel)
    assert largest_difference_of_rows(embedded, seed=1) <= 1e-9
    assert embedded.portable_digest() == reference.portable_digest()


def _write_older_config(folder: Path) -> None:
    """As Google's files have it: two bases of angles, and a pattern of layers."""
    path = folder / "config.json"
    settings = json.loads(path.read_text())
    del settings["rope_parameters"], settings["layer_types"]
    scaling = {"rope_type": "linear", "factor": 8.0}
    older = {"rope_theta": 1000.0, "rope_local_base_freq": 50.0, "rope_scaling": scaling}
    path.write_text(json.dumps(settings | older))


@pytest.mark.slow
def test_float32_is_near_float64_in_every_family(tmp_path: Path) -> None:
    ids = np.random.default_rng(2).integers(0, torch_checkpoints.WIDTH, 35).tolist()
    for name, config in FAMILIES.items():
        folder = torch_checkpoints.write(tmp_path / name, config)
        exact, rough = (ticore.load_model(f"embedded:{folder}", dtype=dtype) for dtype in TOLERANCE)
        scored = rough.score(ids)
        assert scored.dtype == rough.start(ids[:9]).logits().dtype == np.float32
        np.testing.assert_allclose(scored, exact.score(ids), rtol=0, atol=1e-3, err_msg=name)


def test_older_files_of_gpt2_are_read(tmp_path: Path) -> None:
    """They have no `transformer.` before the names, and carry their causal masks."""
    folder = torch_checkpoints.write(tmp_path, FAMILIES["gpt2"])
    expected = ticore.load_model(f"embedded:{folder}").score(list(range(30)))
    path = folder / "model.safetensors"
    tensors = {
        name.removeprefix("transformer."): tensor
        for name, tensor in safetensors.torch.load(path.read_bytes()).items()
    }
    tensors["h.0.attn.bias"] = torch.ones(1, 1, 40, 40).tril()
    path.write_bytes(safetensors.torch.save(tensors))
    found = ticore.load_model(f"embedded:{folder}").score(list(range(30)))
    assert np.array_equal(found, expected)


def reference(settings: Settings, tensors: Tensors, ids: list[int]) -> np.ndarray:
    """Logits float64[len(ids), vocab] of the PyTorch network, before each of `ids`."""
    exact = {name: torch.from_numpy(array).double() for name, array in tensors.items()}
    head = exact.pop("lm_head.weight", exact["model.embed_tokens.weight"])
    states = []
    # The training network computes its angles in the default type.
    with default_dtype(torch.float64), torch.inference_mode():
        network = Llama(LlamaConfig(**settings))
        network.load_state_dict(exact)
        network.model.norm.register_forward_hook(lambda *call: states.append(call[-1]))
        network(torch.tensor([[settings["bos_token_id"], *ids[:-1]]]))
        return (states[0][0] @ head.T).numpy()


@contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", LLAMAS)
def test_logits_equal_those_of_the_trained_network(name: str, dtype: str, tmp_path: Path) -> None:
    settings, ids = LLAMAS[name], some_ids(CONTEXT)
    tensors = random_tensors(settings)
    model = load(write_model(tmp_path, settings, tensors), dtype=dtype)
    expected = reference(settings, tensors, ids)

    scored = model.score(ids)
    assert scored.dtype == np.dtype(dtype)
    np.testing.assert_allclose(scored, expected, rtol=0, atol=TOLERANCE[dtype])

    decoder = model.start(ids[:5])
    for i in range(5, 40):
        assert decoder.logits().dtype == np.dtype(dtype)
        np.testing.assert_allclose(decoder.logits(), expected[i], rtol=0, atol=TOLERANCE[dtype])
        # A detour that is rewound leaves no trace.
        for token in (3, 4, 5)[: i % 4]:
            decoder.push(token)
        decoder.rewind(i % 4)
        decoder.push(ids[i])


@pytest.mark.parametrize("stored", [torch.float16, torch.bfloat16])
def test_half_precision_weights_are_converted_exactly(stored: torch.dtype, tmp_path: Path) -> None:
    halves = {
        name: torch.from_numpy(array).to(stored) for name, array in random_tensors(GROUPED).items()
    }
    folder = write_files(tmp_path, GROUPED, safetensors.torch.save(halves))
    ids, exact = some_ids(20), {name: half.float().numpy() for name, half in halves.items()}
    expected = reference(GROUPED, exact, ids)
    np.testing.assert_allclose(load(folder).score(ids), expected, rtol=0, atol=1e-9)
