"""What config.json says of a network, and in which words it is refused."""

from __future__ import annotations

import pytest

from ticore.backend_kit.network_config import ARCHITECTURES, NetworkConfig, Rope, parse_config
from ticore.errors import ModelFilesError

_ROTARY: dict[str, object] = {
    "vocab_size": 50,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
}
# What a config.json must state; all else has a default.
MINIMAL: dict[str, dict[str, object]] = {
    "llama": _ROTARY,
    "mistral": _ROTARY,
    "qwen2": _ROTARY | {"eos_token_id": 2},
    "gemma3_text": _ROTARY,
    "gpt2": {"vocab_size": 50257, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64},
}


def parsed(architecture: str = "llama", **changes: object) -> NetworkConfig:
    return parse_config({"model_type": architecture} | MINIMAL[architecture] | changes)


class TestDefaults:
    def test_llama_has_the_defaults_of_transformers(self) -> None:
        found = parsed()
        assert (found.kv_heads, found.head_dim, found.norm_eps) == (4, 8, 1e-6)
        assert (found.rope, found.tied) == (Rope("default", 10000.0), False)
        assert (found.bos_token, found.eos_ids) == (1, (2,))
        assert found.attention_scale == 8**-0.5

    def test_gemma3_has_the_defaults_of_transformers(self) -> None:
        found = parsed("gemma3_text", num_hidden_layers=7)
        assert (found.kv_heads, found.head_dim, found.attention_scale) == (4, 256, 1 / 16)
        assert found.windows == (4096,) * 5 + (None, 4096)
        assert found.rope_of(None) == Rope("default", 1_000_000.0)
        assert found.rope_of(4096) == Rope("default", 10_000.0)
        assert (found.tied, found.bos_token, found.eos_ids) == (True, 2, (1,))

    def test_gpt2_has_the_defaults_of_transformers(self) -> None:
        found = parsed("gpt2")
        assert (found.inner, found.head_dim, found.norm_eps) == (128, 8, 1e-5)
        assert (found.rope, found.tied) == (None, True)
        assert (found.bos_token, found.eos_ids) == (50256, (50256,))


class TestVariants:
    @pytest.mark.parametrize(
        "rope",
        [
            {"rope_theta": 500},
            {"rope_theta": 500, "rope_scaling": None},
            {"rope_theta": 500.0, "rope_scaling": {"type": "default"}},
            {"rope_parameters": {"rope_theta": 500.0, "rope_type": "default"}},
        ],
    )
    def test_config_reads_rope_theta_in_both_spellings(self, rope: dict[str, object]) -> None:
        assert parsed(**rope).rope == Rope("default", 500.0)

    def test_gemma3_reads_angles_in_both_spellings(self) -> None:
        old = parsed(
            "gemma3_text",
            rope_theta=500.0,
            rope_local_base_freq=7.0,
            rope_scaling={"rope_type": "linear", "factor": 8.0},
        )
        both = {
            "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 500.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 7.0},
        }
        new = parsed("gemma3_text", rope_parameters=both)
        assert old == new
        assert new.rope_of(None) == Rope("linear", 500.0, 8.0)
        assert new.rope_of(5) == Rope("default", 7.0)

    def test_yarn_has_the_defaults_of_transformers(self) -> None:
        scaling = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
        found = parsed(rope_scaling=scaling).rope
        assert found is not None
        assert (found.factor, found.original_context) == (4.0, 16)
        assert (found.beta_fast, found.beta_slow, found.truncate) == (32.0, 1.0, True)
        assert found.attention_factor == pytest.approx(1.1386294361119891)

    def test_config_prefers_the_original_context_that_stands_outside(self) -> None:
        inside = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
        found = parsed(rope_scaling=inside, original_max_position_embeddings=32).rope
        assert found is not None
        assert found.original_context == 32

    @pytest.mark.parametrize(("eos", "ids"), [(3, (3,)), ([3, 4], (3, 4)), (None, ()), ([], ())])
    def test_config_reads_one_several_or_no_eos(self, eos: object, ids: tuple[int, ...]) -> None:
        assert parsed(eos_token_id=eos).eos_ids == ids

    @pytest.mark.parametrize("architecture", MINIMAL)
    def test_config_takes_eos_as_start_token_when_there_is_no_bos(self, architecture: str) -> None:
        assert parsed(architecture, bos_token_id=7).bos_token == 7
        assert parsed(architecture, bos_token_id=None).bos_token is None
        said = r"bos_token_id or eos_token_id .* found None; correct it there, or in generation_con"
        with pytest.raises(ModelFilesError, match=said):
            parsed(architecture, bos_token_id=None, eos_token_id=None)

    def test_config_reads_sliding_windows(self) -> None:
        assert parsed("llama", sliding_window=5).windows == (None, None)
        assert parsed("mistral", sliding_window=5).windows == (5, 5)
        assert parsed("mistral", sliding_window=None).windows == (None, None)
        assert parsed("mistral").windows == (4096, 4096)
        assert parsed("qwen2", sliding_window=5).windows == (None, None)
        used = {"use_sliding_window": True, "sliding_window": 5}
        assert parsed("qwen2", **used, max_window_layers=1).windows == (None, 5)
        kinds = ["sliding_attention", "full_attention"]
        assert parsed("qwen2", **used, layer_types=kinds).windows == (5, None)
        assert parsed("gemma3_text", sliding_window=5, layer_types=kinds).windows == (5, None)
        assert parsed("gemma3_text", sliding_window_pattern=1).windows == (None, None)


class TestRefusals:
    @pytest.mark.parametrize("found", ["bert", "gemma3", None, 3])
    def test_config_refuses_other_architectures(self, found: object) -> None:
        with pytest.raises(ModelFilesError, match=rf"one of {', '.join(ARCHITECTURES)}, found"):
            parsed(model_type=found)

    def test_config_refuses_what_the_backend_does_not_compute(self) -> None:
        with pytest.raises(ModelFilesError, match="one of llama, gpt2, found 'qwen2'"):
            parse_config(
                MINIMAL["qwen2"] | {"model_type": "qwen2"}, architectures=("llama", "gpt2")
            )

    @pytest.mark.parametrize(
        ("architecture", "name", "value"),
        [
            ("llama", "hidden_act", "gelu"),
            ("llama", "hidden_act", []),
            ("llama", "attention_bias", "yes"),
            ("llama", "head_dim", 7),
            ("llama", "hidden_size", 0),
            ("llama", "vocab_size", None),
            ("llama", "vocab_size", "50"),
            ("llama", "vocab_size", True),
            ("llama", "vocab_size", [0] * 10_000),
            ("llama", "num_hidden_layers", 0),
            ("llama", "num_hidden_layers", 10**7),
            ("llama", "num_hidden_layers", 10**4000),
            ("llama", "max_position_embeddings", 2**31),
            ("llama", "num_key_value_heads", 3),
            ("llama", "rms_norm_eps", "small"),
            ("llama", "rms_norm_eps", 0),
            ("llama", "tie_word_embeddings", 1),
            ("llama", "bos_token_id", 50),
            ("llama", "eos_token_id", "end"),
            ("llama", "eos_token_id", [2, 50]),
            ("llama", "eos_token_id", [2, -1]),
            ("llama", "rope_scaling", "linear"),
            ("llama", "rope_scaling", {"rope_type": "longrope", "factor": 4.0}),
            ("llama", "rope_scaling", {"type": "linear"}),
            ("llama", "rope_scaling", {"type": "llama3", "factor": 8.0}),
            ("llama", "rope_scaling", {"type": "yarn", "factor": -1}),
            ("llama", "rope_scaling", {"type": "yarn", "factor": 2.0, "rope_theta": 1.0}),
            ("llama", "rope_parameters", {"rope_theta": -1.0}),
            ("llama", "rope_parameters", {"full_attention": {"rope_type": "default"}}),
            ("llama", "partial_rotary_factor", 0.5),
            ("llama", "rms_norm_eps", 10**400),
            ("llama", "rope_theta", 10**400),
            ("mistral", "sliding_window", 0),
            ("mistral", "layer_types", ["full_attention", "sliding_attention"]),
            ("qwen2", "layer_types", ["full_attention", "sliding_attention"]),
            ("gpt2", "num_attention_heads", 3),
            ("gemma3_text", "final_logit_softcapping", 30.0),
            ("gemma3_text", "attn_logit_softcapping", 50.0),
            ("gemma3_text", "use_bidirectional_attention", True),
            ("gemma3_text", "hidden_activation", "silu"),
            ("gemma3_text", "query_pre_attn_scalar", 0),
            ("gemma3_text", "sliding_window_pattern", 0),
            ("gemma3_text", "layer_types", ["full_attention", "linear_attention"]),
            ("gemma3_text", "rope_scaling", {"rope_type": "yarn", "factor": 4.0}),
            ("gemma3_text", "rope_parameters", {"rope_theta": 1e4}),
            ("gpt2", "activation_function", "relu"),
            ("gpt2", "scale_attn_weights", False),
            ("gpt2", "scale_attn_by_inverse_layer_idx", True),
            ("gpt2", "add_cross_attention", True),
            ("gpt2", "n_embd", 33),
        ],
    )
    def test_config_names_the_field_that_it_refuses(
        self, architecture: str, name: str, value: object
    ) -> None:
        # What stands inside rope_parameters or rope_scaling is named by both.
        with pytest.raises(ModelFilesError, match=rf"^config\.json: .*{name}.* found "):
            parsed(architecture, **{name: value})

    def test_a_null_asks_for_no_window(self) -> None:
        found = parsed("qwen2", use_sliding_window=True, sliding_window=None, max_window_layers=0)
        assert set(found.windows) == {None}

    @pytest.mark.parametrize(
        ("name", "value"),
        [("max_window_layers", "all"), ("layer_types", ["full_attention"]), ("layer_types", 3)],
    )
    def test_config_refuses_windows_of_some_layers_of_qwen2(self, name: str, value: object) -> None:
        with pytest.raises(ModelFilesError, match=rf"{name}.* found "):
            parsed("qwen2", use_sliding_window=True, **{name: value})


def test_facts_leave_out_what_later_versions_added() -> None:
    """Digests of JAX models contain these facts, so they last."""
    assert parsed(num_key_value_heads=2).facts() == {
        "architecture": "llama",
        "vocab_size": 50,
        "context": 64,
        "width": 32,
        "inner": 48,
        "layers": 2,
        "heads": 4,
        "kv_heads": 2,
        "head_dim": 8,
        "norm_eps": 1e-6,
        "tied": False,
        "qkv_bias": False,
        "output_bias": False,
        "mlp_bias": False,
        "windows": (None, None),
        "rope": {
            "kind": "default",
            "theta": 10000.0,
            "factor": 1.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 1.0,
            "original_context": 1,
        },
        "bos_token": 1,
        "eos_ids": (2,),
    }


def test_facts_tell_networks_apart() -> None:
    scaling = {"type": "yarn", "factor": 4.0}
    configs = [
        parsed("gemma3_text"),
        parsed("gemma3_text", query_pre_attn_scalar=64),
        parsed("gemma3_text", rope_local_base_freq=7.0),
        parsed(rope_scaling=scaling),
        parsed(rope_scaling=scaling | {"beta_fast": 8.0}),
        parsed(rope_scaling=scaling | {"truncate": False}),
    ]
    assert len({str(config.facts()) for config in configs}) == len(configs)
