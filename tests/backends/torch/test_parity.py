"""float64 that is float64 throughout: what another implementation computes, to nine digits."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch or transformers is not installed")
pytest.importorskip("transformers", reason="torch or transformers is not installed")

import numpy as np
import torch
from transformers import MistralConfig, Qwen2Config

import ticore_embedded
from tests.support.readings import largest_difference
from tests.support.torch_checkpoints import CONFIGS, load, network, plain_pass, write
from ticore.errors import SettingsError
from ticore.registry import load_tokenizer
from ticore_torch._network import Network
from ticore_torch._probe import probe

TINY_EN = Path(ticore_embedded.__file__).parent / "models" / "tiny-en"
TOLERANCE = {"float64": 1e-9, "float32": 1e-4}


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_tiny_en_has_the_logits_of_the_embedded_backend(dtype: str) -> None:
    embedded = ticore_embedded.BACKEND.load("tiny-en", load_tokenizer, {"dtype": "float64"})
    ids = embedded.tokenizer.encode(
        "He looked at her for a moment, and then he said that he would come with them. It was "
        "late; nobody had yet put out the lights, and the street was as quiet as a church."
    )
    model = load(TINY_EN, dtype=dtype)
    assert model.tokenizer.digest() == embedded.tokenizer.digest()
    assert (model.eos_ids, model.context_length) == (embedded.eos_ids, embedded.context_length)
    assert largest_difference(model, embedded, ids) <= TOLERANCE[dtype]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_tiny_en_has_them_at_the_end_of_its_context(dtype: str) -> None:
    """Rotary angles are largest there."""
    embedded = ticore_embedded.BACKEND.load("tiny-en", load_tokenizer, {"dtype": "float64"})
    ids = np.random.default_rng(0).integers(3, 4096, 2048).tolist()
    expected = embedded.start(ids[:2047]).logits()
    found = load(TINY_EN, dtype=dtype).start(ids[:2047]).logits()
    np.testing.assert_allclose(found, expected, rtol=0, atol=10 * TOLERANCE[dtype])


@pytest.mark.parametrize("kind", [MistralConfig, Qwen2Config])
def test_relatives_of_llama_have_its_logits_with_its_weights(
    kind: type[MistralConfig] | type[Qwen2Config], tmp_path: Path
) -> None:
    """With no window and no biases, they compute what a Llama does."""
    llama = write(tmp_path / "llama", CONFIGS["llama"])
    sizes = {
        name: value
        for name, value in CONFIGS["llama"].to_dict().items()
        if name not in ("model_type", "architectures", "transformers_version", "dtype")
    }
    relative = write(tmp_path / "relative", kind(**sizes | {"sliding_window": None}))
    module = network(kind(**sizes | {"sliding_window": None}))
    module.load_state_dict(network(CONFIGS["llama"]).state_dict(), strict=False)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if name.endswith("bias"):
                parameter.zero_()
    module.save_pretrained(relative)
    embedded = ticore_embedded.BACKEND.load(str(llama), load_tokenizer, {"dtype": "float64"})
    ids = np.random.default_rng(1).integers(0, 704, 35).tolist()
    assert largest_difference(load(relative, dtype="float64"), embedded, ids) <= 1e-9


def test_gpt2_computes_in_float64_without_wide_floats(tmp_path: Path) -> None:
    """transformers computes it in float64 by itself."""
    folder, ids = write(tmp_path, CONFIGS["gpt2"]), list(range(3, 33))
    plain = plain_pass(folder, [1, *ids[:-1]], torch.float64).numpy()
    found = load(folder, dtype="float64").score(ids)
    np.testing.assert_allclose(found, plain, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["llama", "mistral-window", "mixtral", "qwen2", "lfm2"])
def test_float64_needs_wide_floats_in_other_families(name: str, tmp_path: Path) -> None:
    folder, ids = write(tmp_path, CONFIGS[name]), list(range(3, 33))
    plain = plain_pass(folder, [1, *ids[:-1]], torch.float32).numpy()
    found = load(folder, dtype="float64").score(ids)
    assert 1e-9 < abs(found - plain).max() < 1e-4


def test_load_refuses_float64_when_a_step_computes_in_less() -> None:
    module = network(CONFIGS["llama"]).double()
    module.lm_head.register_forward_hook(lambda module, inputs, output: output.half().double())
    with pytest.raises(
        SettingsError, match=r"LlamaForCausalLM .* giving less; use dtype='float32'"
    ):
        probe(Path("some"), Network(module), torch.float64)
