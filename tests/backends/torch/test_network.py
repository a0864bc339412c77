"""Passes that depend on the ids and the cache alone."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch", reason="torch or transformers is not installed")
pytest.importorskip("transformers", reason="torch or transformers is not installed")

import torch
import transformers

from tests.support.torch_checkpoints import COMMON, WIDTH, named
from ticore_torch import Network
from ticore_torch._network import ids_of

IDS = [1, 9, 300, 77, 5]
IMAGE = WIDTH - 4  # and the three ids after it belong to pictures, too


def of_pictures() -> Any:
    """A model of random weights that places ids by the pictures it has been shown."""
    ropes = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 1, 1]}
    vision = {"depth": 1, "embed_dim": 16, "hidden_size": 32, "num_heads": 2, "patch_size": 2}
    vision |= {"spatial_merge_size": 1, "temporal_patch_size": 1, "mlp_ratio": 1}
    config = transformers.Qwen2VLConfig(
        text_config={**COMMON, "pad_token_id": 0, "rope_parameters": ropes},
        vision_config=vision,
        image_token_id=IMAGE,
        video_token_id=IMAGE + 1,
        vision_start_token_id=IMAGE + 2,
        vision_end_token_id=IMAGE + 3,
    )
    return randomized(transformers.Qwen2VLForConditionalGeneration(config))


def randomized(module: Any) -> Any:
    torch.manual_seed(3)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_(0, 0.3)
    return module.eval()


def show_pictures(module: Any, rows: int) -> None:
    """Generate from as many texts with a picture, as another user of the model does."""
    text = [1, IMAGE + 2, *[IMAGE] * 8, IMAGE + 3, 9]
    ids = torch.tensor([text] * rows)
    module.generate(
        ids,
        pixel_values=torch.randn(8 * rows, 12),
        image_grid_thw=torch.tensor([[1, 2, 4]] * rows),
        mm_token_type_ids=(ids == IMAGE).long(),
        attention_mask=torch.ones_like(ids),
        max_new_tokens=2,
        do_sample=False,
    )


def read(network: Network) -> list[torch.Tensor]:
    """Logits of every kind of pass: [width] each."""
    cache, batch = network.new_cache(), network.new_cache()
    found = [network.read(IDS, cache), network.read([8], cache), network.read([7], cache)]
    found += network.read_prompts([IDS, IDS[::-1]], batch)
    found += network.read_each([8, 7], batch, [len(IDS)] * 2)
    found += network.read_prompts([IDS, IDS[:3]], network.new_cache())
    found += network.read_all(IDS)
    return found


def same(ones: list[torch.Tensor], others: list[torch.Tensor]) -> bool:
    return all(map(torch.equal, ones, others))


def test_what_a_model_was_shown_before_does_not_count() -> None:
    module = of_pictures()
    network = Network(module)
    before = read(network)
    for rows in (1, 2, 3):
        show_pictures(module, rows)
        assert same(read(network), before)


def test_places_are_those_that_the_model_counts_itself() -> None:
    """As long as it was shown nothing: to the same bits, with a cache and without."""
    network = Network(of_pictures())
    found = read(network)
    with torch.inference_mode():
        cache = network.new_cache()
        for ids, logits in zip((IDS, [8], [7]), found[:3], strict=True):
            inputs = named(cache, network.module) | {"input_ids": torch.tensor([ids])}
            alone = network.module(**inputs, logits_to_keep=1)
            assert torch.equal(alone.logits[0, -1], logits)
        whole = network.module(input_ids=torch.tensor([IDS]), use_cache=False).logits[0]
        assert same(list(whole), found[-len(IDS) :])


def test_places_are_left_to_models_that_remember_none() -> None:
    """Some begin to count elsewhere: RoBERTa after the id of its padding."""
    sizes = {name: value for name, value in COMMON.items() if name != "num_key_value_heads"}
    config = transformers.RobertaConfig(**sizes, pad_token_id=0, is_decoder=True)
    network = Network(randomized(transformers.RobertaForCausalLM(config)))
    with torch.inference_mode():
        plain = network.module(input_ids=torch.tensor([IDS]), use_cache=True, logits_to_keep=1)
    assert torch.equal(network.read(IDS, network.new_cache()), plain.logits[0, -1])


@pytest.mark.skipif(not hasattr(transformers, "BambaConfig"), reason="transformers has no Bamba")
def test_a_hybrid_that_counts_anew_at_each_pass_is_told_where_ids_stand() -> None:
    sizes = {name: value for name, value in COMMON.items() if name != "head_dim"}
    states = {"mamba_n_heads": 8, "mamba_d_head": 8, "mamba_d_state": 4, "attn_layer_indices": [1]}
    config = transformers.BambaConfig(**sizes | states, pad_token_id=0)
    network = Network(randomized(transformers.BambaForCausalLM(config)))
    assert not network.crops
    cache = network.new_cache()
    for expected, token in zip(network.read_all(IDS), IDS, strict=True):
        assert torch.allclose(network.read([token], cache), expected, atol=1e-4)


def test_ids_of_a_config_may_be_a_tensor() -> None:
    assert ids_of(torch.tensor([3, 5])) == ids_of([3, 5]) == ids_of((3, 5)) == [3, 5]
    assert ids_of(torch.tensor(3)) == ids_of(3) == [3]
    assert ids_of(None) == []
