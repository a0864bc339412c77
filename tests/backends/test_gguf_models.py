"""A GGUF file gives every backend the network of the checkpoint that it was made of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gguf", reason="gguf is not installed")

import gguf
from safetensors.numpy import save_file

import ticore
from tests.support.gguf_files import pieces_of, write_gguf
from tests.support.small_checkpoints import SETTINGS, tensors_of
from tests.support.tokenizers import SENTENCEPIECE
from ticore.backend_kit.checkpoint import StartToken, open_model_files
from ticore.errors import ModelFilesError, SettingsError
from ticore.interfaces import PortableModel
from ticore_embedded import GGUF

WIDTH = 704  # above the number of ids that the tokenizer has
TEXT = "The morning was cold and dark."


def tokenizer_of(writer: Any) -> None:
    pieces_of(SENTENCEPIECE["sp-bpe"]())(writer)
    writer.add_add_bos_token(True)
    writer.add_chat_template("{{ messages }}")


LLAMA = SETTINGS["llama"] | {"vocab_size": WIDTH, "head_dim": 8}


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small Llama with its tokenizer, its matrices quantized."""
    path = tmp_path_factory.mktemp("llama") / "model.gguf"
    kind = gguf.GGMLQuantizationType.Q5_1
    tensors = tensors_of("llama", LLAMA)
    return write_gguf(path, "llama", LLAMA, tensors, kind=kind, more=tokenizer_of)


@pytest.mark.parametrize("tied", [True, False])
def test_embedded_backend_reads_the_logits_of_the_checkpoint(tied: bool, tmp_path: Path) -> None:
    settings = LLAMA | {"tie_word_embeddings": tied}
    tensors = tensors_of("llama", settings)
    path = write_gguf(tmp_path / "a.gguf", "llama", settings, tensors, more=tokenizer_of)
    config = settings | {"bos_token_id": 1, "eos_token_id": 2}
    (tmp_path / "config.json").write_text(json.dumps(config))
    save_file(tensors, tmp_path / "model.safetensors")
    proto = SENTENCEPIECE["sp-bpe"]()._library.serialized_model_proto()
    (tmp_path / "tokenizer.model").write_bytes(proto)
    expected, found = (ticore.load_model(f"embedded:{each}") for each in (tmp_path, path))
    ids = found.tokenizer.encode(TEXT)
    assert ids == expected.tokenizer.encode(TEXT)
    assert np.array_equal(found.score(ids), expected.score(ids))
    assert found.eos_ids == expected.eos_ids


def test_places_open_the_same_model(llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(llama.parent)
    models = [ticore.load_model(f"{name}:model.gguf") for name in ("embedded", "gguf")]
    assert models[0].digest() == models[1].digest()
    ids = models[0].tokenizer.encode(TEXT)
    assert ids == SENTENCEPIECE["sp-bpe"]().encode(TEXT)
    assert np.array_equal(models[0].score(ids), models[1].score(ids))
    for options in ({"dtype": "int4"}, {"device": "cpu"}, {"tokenizer": 3}):
        with pytest.raises(SettingsError):
            ticore.load_model("gguf:model.gguf", **options)


def test_another_tokenizer_may_be_named(llama: Path, tmp_path: Path) -> None:
    proto = SENTENCEPIECE["sp-bpe-added"]()._library.serialized_model_proto()
    (tmp_path / "tokenizer.model").write_bytes(proto)
    place = f"sentencepiece:{tmp_path / 'tokenizer.model'}"
    model = ticore.load_model(f"embedded:{llama}", tokenizer=place)
    assert model.tokenizer.digest() == SENTENCEPIECE["sp-bpe-added"]().digest()


def test_gguf_place_refuses_other_files(tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(b"GGML")
    for name in ("", "model.bin", "none.gguf"):
        with pytest.raises(ModelFilesError, match="to be a GGUF file, found none"):
            ticore.load_model(f"gguf:{tmp_path / name}")


def test_file_without_its_ending_is_known_by_its_content(llama: Path, tmp_path: Path) -> None:
    (tmp_path / "blob").write_bytes(llama.read_bytes())
    assert ticore.load_model(f"gguf:{tmp_path / 'blob'}").logit_width == WIDTH


@pytest.mark.slow
def test_backends_agree_on_a_quantized_model(llama: Path) -> None:
    pytest.importorskip("torch", reason="one of the backends under test")
    pytest.importorskip("jax", reason="one of the backends under test")
    names = ("embedded", "torch", "jax")
    models = [ticore.load_model(f"{name}:{llama}", dtype="float64") for name in names]
    assert len({model.tokenizer.digest() for model in models}) == 1
    assert all(isinstance(model, PortableModel) for model in models)
    assert len({model.portable_digest() for model in models}) == 1
    ids = models[0].tokenizer.encode(TEXT)
    first, *others = (model.score(ids) for model in models)
    assert np.ptp(first) > 1
    for other in others:
        np.testing.assert_allclose(other, first, rtol=0, atol=1e-9)


def gemma3() -> Any:
    transformers = pytest.importorskip("transformers", reason="it computes the other families")
    return transformers.Gemma3TextConfig(
        vocab_size=WIDTH,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=7,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=16,
        query_pre_attn_scalar=16,
        max_position_embeddings=40,
        sliding_window=6,
        bos_token_id=1,
        eos_token_id=2,
    )


@pytest.mark.slow
@pytest.mark.parametrize("family", ["llama", "qwen2", "gemma3", "gpt2"])
def test_torch_backend_reads_the_logits_of_the_checkpoint(family: str, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the backend under test")
    from tests.support import torch_checkpoints as torch  # noqa: PLC0415  # skips without torch

    config = gemma3() if family == "gemma3" else torch.CONFIGS[family]
    folder = torch.write(tmp_path / "folder", config)
    tensors = {
        name: parameter.detach().numpy()
        for name, parameter in torch.network(config).named_parameters()
    }
    settings = config.to_dict()
    angles = settings.pop("rope_parameters", None) or {}
    settings["rope_theta"] = angles.get("full_attention", angles).get("rope_theta")
    settings["n_inner"] = 4 * settings.get("n_embd", 0)
    if family != "gemma3":
        settings.pop("sliding_window", None)
    path = write_gguf(tmp_path / "a.gguf", family, settings, tensors, more=tokenizer_of)
    expected, found = (torch.load(each, dtype="float64") for each in (folder, path))
    ids = expected.tokenizer.encode(TEXT)
    # Gemma's norms are stored with one added, which rounds them.
    limit = 1e-4 if family == "gemma3" else 0
    np.testing.assert_allclose(found.score(ids), expected.score(ids), rtol=0, atol=limit)
    assert found.context_length == expected.context_length
    assert found.eos_ids == expected.eos_ids


@pytest.mark.slow
def test_transformers_changes_no_setting_of_the_digest(tmp_path: Path) -> None:
    """It adds fields to the objects in a config."""
    pytest.importorskip("torch", reason="the backend under test")

    def scaled(writer: Any) -> None:
        tokenizer_of(writer)
        writer.add_float32("llama.rope.scaling.factor", 2.0)

    tensors = tensors_of("llama", LLAMA)
    path = write_gguf(tmp_path / "a.gguf", "llama", LLAMA, tensors, more=scaled)
    model = ticore.load_model(f"torch:{path}", dtype="float64")
    files = open_model_files(path)
    assert isinstance(model, PortableModel)
    assert files is not None
    assert model.portable_digest() == files.checkpoint(StartToken(1, always=True)).digest()


@pytest.mark.parametrize("backend", ["embedded", "torch", "jax"])
def test_file_that_is_damaged_is_refused(backend: str, llama: Path, tmp_path: Path) -> None:
    if backend != "embedded":
        pytest.importorskip(backend, reason="the backend under test")
    path = tmp_path / "model.gguf"
    data = llama.read_bytes()
    for content in (b"", data[:3000], data[:-1], data.replace(b"ffn_up", b"ffn_uq")):
        path.write_bytes(content)
        with pytest.raises(ModelFilesError, match=str(path)) as refusal:
            ticore.load_model(f"{backend}:{path}")
        assert "\n" not in str(refusal.value)


def test_tokenizer_of_a_gguf_file_is_opened_without_its_tensors(llama: Path) -> None:
    expected = ticore.load_model(f"gguf:{llama}").tokenizer.digest()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ticore_embedded._loading.build", None)
        assert GGUF.open_tokenizer(str(llama), ticore.load_tokenizer).digest() == expected
        with pytest.raises(ModelFilesError, match="found none"):
            GGUF.open_tokenizer(str(llama.parent), ticore.load_tokenizer)
