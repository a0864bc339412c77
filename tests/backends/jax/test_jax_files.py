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

from tests.support.jax_checkpoints import NumberTokenizer, load, some_ids
from ticore.errors import ModelFilesError, SettingsError
from ticore_jax import BACKEND

Tensors = dict[str, np.ndarray]


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

    def test_load_refuses_an_architecture_that_other_backends_compute(self, copy: Path) -> None:
        stated = json.loads((copy / "config.json").read_text())
        (copy / "config.json").write_text(json.dumps(stated | {"model_type": "gemma3_text"}))
        with pytest.raises(ModelFilesError, match=r"llama, mistral, qwen2, gpt2, found 'gemma3"):
            load(copy)

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
        with pytest.raises(SettingsError, match="tokenizer: expected a text or None, found 3"):
            load(copy, tokenizer=3)

    def test_load_refuses_an_unknown_dtype(self, copy: Path) -> None:
        with pytest.raises(SettingsError, match="float64, float32, bfloat16, found 'float16'"):
            load(copy, dtype="float16")

    def test_load_refuses_an_unknown_option(self, copy: Path) -> None:
        with pytest.raises(SettingsError, match=r"unknown option 'device'.*the options are dtype"):
            load(copy, device="cuda")
