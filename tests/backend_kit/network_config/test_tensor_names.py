"""Names of tensors that exports of one network do not share."""

import pytest

from ticore.backend_kit.network_config import gpt2_root, is_spare_tensor


def test_gpt2_root_is_what_the_names_begin_with() -> None:
    assert gpt2_root({"transformer.wte.weight", "lm_head.weight"}) == "transformer."
    assert gpt2_root({"wte.weight", "wpe.weight"}) == ""


@pytest.mark.parametrize(
    "name",
    [
        "lm_head.weight",
        "model.layers.0.self_attn.rotary_emb.inv_freq",
        "transformer.h.3.attn.bias",
        "h.3.attn.masked_bias",
    ],
)
def test_tensor_that_old_exports_keep_is_spare(name: str) -> None:
    assert is_spare_tensor(name)


@pytest.mark.parametrize("name", ["lm_head.bias", "h.0.attn.c_attn.bias", "model.norm.weight"])
def test_tensor_that_a_network_computes_with_is_not_spare(name: str) -> None:
    assert not is_spare_tensor(name)
