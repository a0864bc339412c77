"""The embedded runner against the PyTorch network that it was trained as."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed: it computes what is compared with")

import safetensors.torch
import torch

from tests.support.embedded_checkpoints import (
    CONFIGS,
    CONTEXT,
    GROUPED,
    TOLERANCE,
    Tensors,
    load,
    random_tensors,
    some_ids,
    write_files,
    write_model,
)
from ticore_embedded._config import LlamaConfig
from training.network import Llama


def reference(config: LlamaConfig, tensors: Tensors, ids: list[int]) -> np.ndarray:
    """Logits float64[len(ids), vocab] of the PyTorch network, before each of `ids`."""
    exact = {name: torch.from_numpy(array).double() for name, array in tensors.items()}
    head = exact.pop("lm_head.weight", exact["model.embed_tokens.weight"])
    states = []
    # The training network computes its angles in the default type.
    with default_dtype(torch.float64), torch.inference_mode():
        network = Llama(config)
        network.load_state_dict(exact)
        network.model.norm.register_forward_hook(lambda *call: states.append(call[-1]))
        network(torch.tensor([[config.bos_token_id, *ids[:-1]]]))
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
@pytest.mark.parametrize("name", CONFIGS)
def test_logits_equal_those_of_the_trained_network(name: str, dtype: str, tmp_path: Path) -> None:
    config, ids = CONFIGS[name], some_ids(CONTEXT)
    tensors = random_tensors(config)
    model = load(write_model(tmp_path, config, tensors), dtype=dtype)
    expected = reference(config, tensors, ids)

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
