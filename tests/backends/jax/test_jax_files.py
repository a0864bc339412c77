"""What is refused of a model's files and options, and in which words."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("jax", reason="jax or flax is not installed")
pytest.importorskip("flax", reason="jax or flax is not installed")

import numpy as np
import safetensors.numpy

from tests.support.jax_checkpoints import CASES, NumberTokenizer, load, some_ids
from ticore.errors import ModelFilesError, SettingsError
from ticore_jax import BACKEND
from ticore_jax._config import Config, parse_config

Tensors = dict[str, np.ndarray]

MINIMAL: dict[str, dict[str, object]] = {
    "llama": CASES["llama"][1] | {"model_type": "llama"},
    "mistral": CASES["llama"][1] | {"model_type": "mistral"},
    "qwen2": CASES["llama"][1] | {"model_type": "qwen2"},
    "gpt2": CASES["gpt2"][1] | {"model_type": "gpt2"},
}


def parsed(architecture: str = "llama", **changes: object) -> Config:
    return parse_config(MINIMAL[architecture] | changes)


class TestConfig:
    @pytest.mark.parametrize(
        "rope",
        [
            {"rope_theta": 500},
            {"rope_theta": 500.0, "rope_scaling": {"type": "default"}},
            {"rope_parameters": {"rope_theta": 500.0, "rope_type": "default"}},
        ],
    )
    def test_config_reads_rope_theta_in_both_spellings(self, rope: dict[str, object]) -> None:
        found = parsed(**rope).rope
        assert found is not None
        assert (found.kind, found.theta) == ("default", 500.0)

    @pytest.mark.parametrize(("eos", "ids"), [(3, (3,)), ([3, 4], (3, 4)), (None, ()), ([], ())])
    def test_config_reads_one_several_or_no_eos(self, eos: object, ids: tuple[int, ...]) -> None:
        assert parsed(eos_token_id=eos).eos_ids == ids

    @pytest.mark.parametrize("architecture", MINIMAL)
    def test_config_takes_eos_as_start_token_when_there_is_no_bos(self, architecture: str) -> None:
        assert parsed(architecture, bos_token_id=7).bos_token == 7
        assert parsed(architecture, bos_token_id=None).bos_token is None
        with pytest.raises(ModelFilesError, match=r"bos_token_id or eos_token_id .* found None"):
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

    @pytest.mark.parametrize("found", ["bert", None, 3])
    def test_config_refuses_other_architectures(self, found: object) -> None:
        with pytest.raises(ModelFilesError, match=r"one of llama, mistral, qwen2, gpt2, found"):
            parsed(model_type=found)

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
            ("llama", "num_key_value_heads", 3),
            ("llama", "rms_norm_eps", "small"),
            ("llama", "rms_norm_eps", 0),
            ("llama", "tie_word_embeddings", 1),
            ("llama", "bos_token_id", 50),
            ("llama", "eos_token_id", "end"),
            ("llama", "eos_token_id", [2, -1]),
            ("llama", "rope_scaling", "linear"),
            ("llama", "rope_scaling", {"rope_type": "yarn", "factor": 4.0}),
            ("llama", "rope_scaling", {"type": "linear"}),
            ("llama", "rope_scaling", {"type": "llama3", "factor": 8.0}),
            ("llama", "rope_parameters", {"rope_theta": -1.0}),
            ("llama", "rope_parameters", {"full_attention": {"rope_type": "default"}}),
            ("llama", "partial_rotary_factor", 0.5),
            ("mistral", "sliding_window", 0),
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

    @pytest.mark.parametrize(
        ("name", "value"),
        [("max_window_layers", "all"), ("layer_types", ["full_attention"]), ("layer_types", 3)],
    )
    def test_config_refuses_windows_of_some_layers_of_qwen2(self, name: str, value: object) -> None:
        with pytest.raises(ModelFilesError, match=rf"{name}.* found "):
            parsed("qwen2", use_sliding_window=True, **{name: value})


class TestBadFiles:
    @pytest.fixture
    def copy(self, folder: Path, tmp_path: Path) -> Path:
        for path in folder.iterdir():
            (tmp_path / path.name).write_bytes(path.read_bytes())
        return tmp_path

    @staticmethod
    def rewrite(copy: Path, change: Callable[[Tensors], object]) -> None:
        path = copy / "model.safetensors"
        tensors = safetensors.numpy.load_file(path)
        change(tensors)
        safetensors.numpy.save_file(tensors, path)

    def test_load_refuses_a_place_that_is_no_directory(self, tmp_path: Path) -> None:
        with pytest.raises(ModelFilesError, match=r"nowhere' to be a directory.*no directory"):
            load(tmp_path / "nowhere")

    def test_load_refuses_a_directory_without_config(self, copy: Path) -> None:
        (copy / "config.json").unlink()
        with pytest.raises(ModelFilesError, match=r"config\.json: .*no readable file"):
            load(copy)

    def test_load_refuses_a_directory_without_weights(self, copy: Path) -> None:
        (copy / "model.safetensors").unlink()
        with pytest.raises(ModelFilesError, match=r"model\.safetensors: .*no readable file"):
            load(copy)

    def test_load_refuses_truncated_weights(self, copy: Path) -> None:
        path = copy / "model.safetensors"
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.raises(ModelFilesError, match="damaged or truncated"):
            load(copy)

    def test_load_refuses_absurd_sizes_before_it_allocates(self, copy: Path) -> None:
        """None is looked for in memory before the tensors are compared."""
        stated = json.loads((copy / "config.json").read_text())
        for name, value, found in (
            ("num_hidden_layers", 10**7, "num_hidden_layers to be at most 10,000"),
            ("num_hidden_layers", 10_000, r"a tensor model\.layers\.2\."),
            ("head_dim", 2 * 10**9, r"to have shape \(8000000000, 32\)"),
            ("vocab_size", 2**31, "vocab_size to be at most 2,147,483,647"),
        ):
            (copy / "config.json").write_text(json.dumps(stated | {name: value}))
            with pytest.raises(ModelFilesError, match=found):
                load(copy)

    @pytest.mark.slow
    def test_load_allocates_nothing_for_an_unread_context(self, folder: Path, copy: Path) -> None:
        stated = json.loads((copy / "config.json").read_text())
        wide = {"max_position_embeddings": 2**31 - 1}
        (copy / "config.json").write_text(json.dumps(stated | wide))
        model, ids = load(copy), some_ids(30)
        assert model.context_length == 2**31 - 2
        assert (model.score(ids) == load(folder).score(ids)).all()

    def test_load_refuses_weights_with_a_missing_tensor(self, copy: Path) -> None:
        self.rewrite(copy, lambda tensors: tensors.pop("model.norm.weight"))
        with pytest.raises(ModelFilesError, match=r"model\.norm\.weight of shape \(32,\), found"):
            load(copy)

    def test_load_refuses_a_tensor_of_another_shape(self, copy: Path) -> None:
        ones = np.ones(31, np.float32)
        self.rewrite(copy, lambda tensors: tensors.update({"model.norm.weight": ones}))
        with pytest.raises(ModelFilesError, match=r"norm\.weight.* \(32,\), found \(31,\)"):
            load(copy)

    def test_load_refuses_a_tensor_of_another_dtype(self, copy: Path) -> None:
        ones = np.ones(32, np.int64)
        self.rewrite(copy, lambda tensors: tensors.update({"model.norm.weight": ones}))
        with pytest.raises(ModelFilesError, match=r"norm\.weight.* BF16, F16, F32, found I64"):
            load(copy)

    def test_load_refuses_a_superfluous_tensor(self, copy: Path) -> None:
        bias = {"model.layers.0.self_attn.q_proj.bias": np.ones(32, np.float32)}
        self.rewrite(copy, lambda tensors: tensors.update(bias))
        with pytest.raises(ModelFilesError, match=r"1 others, such as .*q_proj\.bias"):
            load(copy)

    def test_load_refuses_a_directory_without_a_tokenizer(self, copy: Path) -> None:
        (copy / "tokenizer.json").unlink()
        with pytest.raises(ModelFilesError, match=r"tokenizer\.model or tokenizer\.json, found n"):
            load(copy)

    def test_load_refuses_a_tokenizer_with_more_ids_than_logits(self, copy: Path) -> None:
        with pytest.raises(ModelFilesError, match=r"at most 50 ids.* found 51"):
            BACKEND.load(str(copy), lambda place: NumberTokenizer(vocab_size=51), {})

    def test_tokenizer_option_opens_another_tokenizer(self, copy: Path) -> None:
        places = []

        def opened(place: str) -> NumberTokenizer:
            places.append(place)
            return NumberTokenizer()

        BACKEND.load(str(copy), opened, {"tokenizer": "toy:numbers"})
        assert places == ["toy:numbers"]
        with pytest.raises(SettingsError, match="tokenizer to be a place or None, found 3"):
            load(copy, tokenizer=3)

    def test_load_refuses_an_unknown_dtype(self, copy: Path) -> None:
        with pytest.raises(SettingsError, match="float64, float32, bfloat16, found 'float16'"):
            load(copy, dtype="float16")

    def test_load_refuses_an_unknown_option(self, copy: Path) -> None:
        with pytest.raises(SettingsError, match=r"unknown option 'device'.*the options are dtype"):
            load(copy, device="cuda")
