"""From a place to a model: which files are read, and how what is wrong with them is told."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch or transformers is not installed")
pytest.importorskip("transformers", reason="torch or transformers is not installed")

import huggingface_hub
import safetensors.torch
import torch
import transformers

import ticore_torch
from tests.support.torch_checkpoints import CONFIGS, WIDTH, load, network, write
from ticore.errors import ModelFilesError, SettingsError
from ticore.interfaces import ModelBackend

Tensors = dict[str, torch.Tensor]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("llama"), CONFIGS["llama"])


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "model"))


def set_config(folder: Path, **changes: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def set_tensors(folder: Path, change: Callable[[Tensors], object]) -> None:
    path = folder / "model.safetensors"
    tensors = safetensors.torch.load(path.read_bytes())
    change(tensors)
    path.write_bytes(safetensors.torch.save(tensors, metadata={"format": "pt"}))


class TestBackend:
    def test_backend_keeps_the_interface(self) -> None:
        backend: ModelBackend = ticore_torch.BACKEND
        assert backend.summary
        assert not backend.shipped

    def test_backend_imports_torch_when_a_model_is_loaded(self) -> None:
        code = "import sys, ticore_torch; sys.exit('torch' in sys.modules)"
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

    def test_public_names_are_found(self) -> None:
        for name in ticore_torch.__all__:
            assert getattr(ticore_torch, name)
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            _ = ticore_torch.nothing


class TestOptions:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"dtype": "float8"}, "float64, float32, bfloat16, float16, found 'float8'"),
            ({"dtype": torch.float32}, "found torch.float32"),
            ({"precision": 64}, "unknown option 'precision'.*the options are device, dtype"),
            ({"device": "gpu"}, "cpu, cuda, cuda:N or mps, found 'gpu'"),
            ({"device": "meta"}, "cpu, cuda, cuda:N or mps, found 'meta'"),
            ({"device": "cuda:99"}, r"'cuda:99': expected PyTorch to see it, found \d+ devices"),
            ({"revision": "main"}, "no revision for the directory"),
            ({"revision": 3}, "revision: expected a text or None, found 3"),
            ({"trust_remote_code": "yes"}, "True or False, found 'yes'"),
        ],
    )
    def test_option_is_refused_when_unknown_or_of_another_type(
        self, folder: Path, options: dict[str, object], message: str
    ) -> None:
        with pytest.raises(SettingsError, match=message):
            load(folder, **options)

    def test_device_cuda_is_refused_without_cuda(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        with pytest.raises(SettingsError, match=r"'cuda': .*found 0 devices.*device='cpu'"):
            load(folder, device="cuda")
        assert load(folder, device=None).network.module.device.type == "cpu"

    def test_dtype_float64_is_refused_on_mps(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
        with pytest.raises(SettingsError, match="device='cpu'"):
            load(folder, device="mps", dtype="float64")

    def test_tokenizer_option_opens_another_tokenizer(self, folder: Path, tmp_path: Path) -> None:
        other = write(tmp_path / "other", CONFIGS["llama"], pieces=False)
        place = f"tokenizers:{other / 'tokenizer.json'}"
        assert load(folder, tokenizer=place).tokenizer.digest() == load(other).tokenizer.digest()


class TestPlaces:
    @pytest.mark.parametrize("place", ["/nowhere/at/all", "./nowhere", "../nowhere", "a b"])
    def test_load_refuses_a_place_that_is_no_directory_or_hub_name(self, place: str) -> None:
        with pytest.raises(ModelFilesError, match=r"to be a directory with.*found no directory"):
            load(place)

    def test_load_downloads_a_model_of_the_hub(
        self, original: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[object] = []

        def download(name: str, **settings: object) -> str:
            asked.append((name, settings["revision"], settings["allow_patterns"]))
            return str(original)

        monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
        model = load("owner/name", revision="v1")
        assert model.digest() == load(original).digest()
        load("gpt2", trust_remote_code=True)
        files = ["*.json", "*.safetensors", "tokenizer.model", "chat_template.jinja"]
        assert asked == [("owner/name", "v1", files), ("gpt2", None, [*files, "*.py"])]

    def test_load_names_the_hub_error_when_the_download_fails(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def download(name: str, **settings: object) -> str:
            raise ConnectionError("no route\nand more")

        monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
        with pytest.raises(ModelFilesError, match=r"hub gives none \(no route\); check the name"):
            load("owner/name")


class TestTokenizers:
    def test_open_tokenizer_prefers_sentencepiece(self, folder: Path, tmp_path: Path) -> None:
        other = write(tmp_path / "other", CONFIGS["llama"], pieces=False)
        shutil.copy(other / "tokenizer.json", folder)
        both = load(folder).tokenizer.digest()
        (folder / "tokenizer.json").unlink()
        assert both == load(folder).tokenizer.digest() != load(other).tokenizer.digest()

    def test_open_tokenizer_skips_a_tokenizer_model_of_ranks(self, tmp_path: Path) -> None:
        folder = write(tmp_path, CONFIGS["llama"], pieces=False)
        expected = load(folder).tokenizer.digest()
        (folder / "tokenizer.model").write_text("IQ== 0\nIg== 1\n")
        assert load(folder).tokenizer.digest() == expected

    def test_load_refuses_a_directory_without_a_tokenizer(self, folder: Path) -> None:
        (folder / "tokenizer.model").unlink()
        with pytest.raises(ModelFilesError, match=r"tokenizer\.model or .*found neither"):
            load(folder)

    def test_load_refuses_a_damaged_tokenizer(self, folder: Path) -> None:
        (folder / "tokenizer.model").write_bytes(b"\x0a")
        with pytest.raises(ModelFilesError, match="complete SentencePiece model"):
            load(folder)

    def test_load_refuses_a_tokenizer_with_more_ids_than_logits(self, tmp_path: Path) -> None:
        config = transformers.LlamaConfig(**CONFIGS["llama"].to_dict() | {"vocab_size": 99})
        with pytest.raises(ModelFilesError, match=r"at most 99 ids.* found \d{3}"):
            load(write(tmp_path, config))


class TestEnds:
    def test_eos_ids_are_all_that_the_config_names(self, folder: Path) -> None:
        set_config(folder, eos_token_id=[2, 3])
        (folder / "generation_config.json").unlink()
        assert load(folder).eos_ids == {2, 3}
        (folder / "generation_config.json").write_text('{"eos_token_id": 4}')
        assert load(folder).eos_ids == {4}

    @pytest.mark.parametrize("wrong", ['"abc"', "[[1]]", "{}", "2.5", '"2"', "true"])
    def test_load_refuses_what_is_no_id(self, folder: Path, wrong: str) -> None:
        (folder / "generation_config.json").write_text(f'{{"eos_token_id": {wrong}}}')
        with pytest.raises(ModelFilesError, match="eos_token_id"):
            load(folder)

    def test_load_refuses_weights_in_another_file(self, folder: Path) -> None:
        set_config(folder, transformers_weights="other.safetensors")
        with pytest.raises(ModelFilesError, match=r"transformers_weights that names 'other\.safe"):
            load(folder)


class TestBadFiles:
    def test_load_refuses_a_directory_without_config(self, folder: Path) -> None:
        (folder / "config.json").unlink()
        with pytest.raises(ModelFilesError, match=r"config\.json: .*found no readable file"):
            load(folder)

    @pytest.mark.parametrize(
        ("content", "found"),
        [
            ("{", "expected JSON"),
            ("[]", "expected a JSON object"),
            ('{"model_type": "nothing"}', "damaged or not supported"),
            ("{}", "damaged or not supported"),
        ],
    )
    def test_load_refuses_a_config_that_is_not_of_a_model(
        self, content: str, found: str, folder: Path
    ) -> None:
        (folder / "config.json").write_text(content)
        with pytest.raises(ModelFilesError, match=found):
            load(folder)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("kind", "message"),
        [
            ("t5", "'t5', which also has an encoder"),
            ("vit", "damaged or not supported"),
            ("bert", "BertLMHeadModel, whose predictions look at what follows"),
            ("rwkv", "RwkvForCausalLM, which does not"),
            (  # in transformers 5.16 and before it fails by itself
                "recurrent_gemma",
                "RecurrentGemmaForCausalLM, which reads other numbers token by|not supported",
            ),
        ],
    )
    def test_load_refuses_a_model_that_is_not_causal(
        self, kind: str, message: str, folder: Path
    ) -> None:
        small = {"hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4}
        config = transformers.AutoConfig.for_model(
            kind, vocab_size=WIDTH, num_hidden_layers=3, **small
        )
        if kind in ("t5", "vit"):
            config.save_pretrained(folder)
        else:
            network(config).save_pretrained(folder)
        with pytest.raises(ModelFilesError, match=message):
            load(folder)

    def test_load_refuses_a_directory_without_weights(self, folder: Path) -> None:
        (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
        with pytest.raises(ModelFilesError, match=r"model\.safetensors"):
            load(folder)

    @pytest.mark.parametrize("kept", [0, 4, 100, -1])
    def test_load_refuses_truncated_weights(self, kept: int, folder: Path) -> None:
        path = folder / "model.safetensors"
        path.write_bytes(path.read_bytes()[:kept])
        with pytest.raises(ModelFilesError, match="damaged or truncated"):
            load(folder)

    @pytest.mark.parametrize(
        ("name", "value", "found"),
        [
            # transformers would make each layer, for hours, before it looks for weights.
            ("num_hidden_layers", 10**7, "expected num_hidden_layers to be at most [0-9]+, the"),
            ("num_hidden_layers", 10**18, "expected num_hidden_layers to be at most [0-9]+, the"),
            # Or fill the memory with numbers of its own.
            ("vocab_size", 10**8, r"found one for [0-9,]{12,}; check that it belongs"),
            ("intermediate_size", 10**8, r"found one for [0-9,]{12,}; check that it belongs"),
        ],
    )
    def test_load_refuses_absurd_sizes_before_it_allocates(
        self, name: str, value: int, found: str, folder: Path
    ) -> None:
        set_config(folder, **{name: value})
        with pytest.raises(ModelFilesError, match=found):
            load(folder)

    @pytest.mark.parametrize("name", ["bos_token_id", "eos_token_id"])
    @pytest.mark.parametrize("token", [2**31 - 1, WIDTH])
    def test_load_refuses_special_ids_without_a_logit(
        self, name: str, token: int, folder: Path
    ) -> None:
        set_config(folder, **{name: token})
        (folder / "generation_config.json").unlink(missing_ok=True)
        with pytest.raises(ModelFilesError, match=f"{name} to be ids from 0 to 703, found {token}"):
            load(folder)

    def test_load_refuses_a_part_with_more_layers_than_tensors(self, folder: Path) -> None:
        set_config(folder, text_config={"n_layer": 10**9})
        with pytest.raises(ModelFilesError, match="expected n_layer to be at most"):
            load(folder)

    def test_load_refuses_weights_with_a_missing_tensor(self, folder: Path) -> None:
        set_tensors(folder, lambda tensors: tensors.pop("model.norm.weight"))
        with pytest.raises(ModelFilesError, match=r"tensor model\.norm\.weight, found none"):
            load(folder)

    def test_load_refuses_a_tensor_of_another_shape(self, folder: Path) -> None:
        set_tensors(folder, lambda t: t.update({"model.norm.weight": torch.ones(31)}))
        with pytest.raises(ModelFilesError, match=r"norm\.weight.* \(32,\), found \(31,\)"):
            load(folder)

    def test_load_refuses_a_superfluous_tensor(self, folder: Path) -> None:
        set_config(folder, num_hidden_layers=1)
        with pytest.raises(ModelFilesError, match=r"found model\.layers\.1\.\S+ as well"):
            load(folder)

    def test_load_refuses_weights_that_give_nan(self, folder: Path) -> None:
        set_tensors(folder, lambda t: t["model.norm.weight"].fill_(torch.nan))
        with pytest.raises(ModelFilesError, match="expected finite logits, found NaN"):
            load(folder)

    def test_load_prints_nothing(self, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        load(folder, dtype="float64").score([5, 6])
        set_tensors(folder, lambda tensors: tensors.pop("model.norm.weight"))
        with pytest.raises(ModelFilesError):
            load(folder)
        assert capfd.readouterr() == ("", "")


class TestDigest:
    def test_digest_changes_with_what_shapes_the_logits(
        self, original: Path, folder: Path, tmp_path: Path
    ) -> None:
        model = load(folder)
        assert model.digest() == load(original).digest()
        digests = {model.digest(), load(folder, dtype="float64").digest()}

        set_tensors(folder, lambda t: t["model.norm.weight"][0].add_(1e-3))
        digests.add(load(folder).digest())
        set_config(folder, rope_parameters={"rope_type": "default", "rope_theta": 10001.0})
        digests.add(load(folder).digest())
        (folder / "tokenizer_config.json").write_text('{"add_bos_token": false}')
        digests.add(load(folder).digest())
        other = write(tmp_path / "other", CONFIGS["llama"], pieces=False)
        digests.add(load(other).digest())
        assert len(digests) == 6

    def test_digest_is_the_same_for_sharded_weights(self, original: Path, tmp_path: Path) -> None:
        split = write(tmp_path, CONFIGS["llama"])
        (split / "model.safetensors").unlink()
        network(CONFIGS["llama"]).save_pretrained(split, max_shard_size="50KB")
        assert (split / "model.safetensors.index.json").exists()
        assert load(split).digest() == load(original).digest()
