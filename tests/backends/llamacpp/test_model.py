"""GGUF files run by llama.cpp: the same calls give the same bits, and messages survive."""

from __future__ import annotations

import gc
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
pytest.importorskip("gguf", reason="gguf is not installed")

from safetensors.numpy import load_file

import ticore
import ticore_embedded
from tests.support.gguf_files import pieces_of, write_gguf
from tests.support.small_checkpoints import SETTINGS, tensors_of
from tests.support.tokenizers import SENTENCEPIECE
from ticore.errors import CapacityError, ModelFilesError, SettingsError
from ticore_sentencepiece import SentencePieceTokenizer

WIDTH = SENTENCEPIECE["sp-bpe"]().vocab_size  # llama.cpp wants as many logits as ids
TEXT = "The morning was cold and dark."
LLAMA = SETTINGS["llama"] | {"vocab_size": WIDTH, "head_dim": 8, "max_position_embeddings": 400}


def tokenizer_of(writer: Any) -> None:
    pieces_of(SENTENCEPIECE["sp-bpe"]())(writer)
    writer.add_add_bos_token(True)
    writer.add_chat_template("{{ messages }}")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small random Llama with its tokenizer."""
    path = tmp_path_factory.mktemp("llama") / "model.gguf"
    return write_gguf(path, "llama", LLAMA, tensors_of("llama", LLAMA), more=tokenizer_of)


@pytest.fixture(scope="module")
def model(path: Path) -> ticore.LanguageModel:
    return ticore.load_model(f"llamacpp:{path}")


def walk(model: ticore.LanguageModel, prompt: Sequence[int], ids: Sequence[int]) -> list[Any]:
    """Logits after the prompt, and after each of `ids` that follows."""
    decoder = model.start(prompt)
    found = [decoder.logits()]
    for token in ids:
        decoder.push(token)
        found.append(decoder.logits())
    return found


def test_model_is_that_of_the_other_backends(model: ticore.LanguageModel, path: Path) -> None:
    expected = ticore.load_model(f"gguf:{path}")
    assert model.tokenizer.digest() == expected.tokenizer.digest()
    assert (model.logit_width, model.eos_ids) == (WIDTH, expected.eos_ids)
    assert model.chat_template == expected.chat_template
    assert model.context_length == expected.context_length
    ids = model.tokenizer.encode(TEXT)
    for found in (model.score(ids), np.stack(walk(model, [], ids[:-1]))):
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected.score(ids), rtol=0, atol=1e-3)


@pytest.mark.slow
def test_same_calls_give_the_same_bits(model: ticore.LanguageModel) -> None:
    """Beside other texts, in caches that others have left, after any rewinding."""
    rng = np.random.default_rng(5)
    for length in (3, 230, 300):  # one part or two; llama.cpp looks at 256 positions at a time
        ids = rng.integers(3, WIDTH, length + 40).tolist()
        expected = walk(model, ids[:length], ids[length:])
        others = [model.start(ids[:n]) for n in (7, 20, 31)]
        decoder = model.start(ids[:length])
        for _ in range(20):
            others[rng.integers(3)].push(int(rng.integers(WIDTH)))
            pushed = len(decoder.ids) - length
            decoder.rewind(int(rng.integers(pushed + 1)))
            for token in ids[len(decoder.ids) :][: rng.integers(1, 40)]:
                decoder.push(int(rng.integers(WIDTH)))
                decoder.rewind(1)
                decoder.push(token)
            assert np.array_equal(decoder.logits(), expected[len(decoder.ids) - length])
        del decoder, others
        gc.collect()
        assert all(map(np.array_equal, walk(model, ids[:length], ids[length:]), expected))


@pytest.fixture(scope="module")
def tiny_en(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled model."""
    folder = ticore_embedded.BACKEND.folder("tiny-en")
    assert folder is not None
    stored = load_file(folder / "model.safetensors")
    tensors = {name: array.astype(np.float32) for name, array in stored.items()}
    settings = json.loads((folder / "config.json").read_text())
    path = tmp_path_factory.mktemp("tiny") / "tiny-en.gguf"
    tokenizer = SentencePieceTokenizer.from_file(folder / "tokenizer.model")
    return write_gguf(path, "llama", settings, tensors, more=pieces_of(tokenizer))


@pytest.mark.slow
def test_messages_survive(tiny_en: Path) -> None:
    """The reader opens the file once more."""
    writer, reader = (ticore.load_model(f"llamacpp:{tiny_en}", context=512) for _ in range(2))
    for seed in range(6):
        rng = np.random.default_rng(seed)
        message, prompt = rng.bytes(int(rng.integers(20))), ["The morning", ""][seed % 2]
        key = ticore.Key(rng.bytes(32))
        written = ticore.Steganographer(writer, key=key, prompt=prompt).embed(message)
        assert (
            ticore.Steganographer(reader, key=key, prompt=prompt).extract(written.text) == message
        )


def test_cache_that_cannot_forget_reads_again(
    model: ticore.LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ticore_llamacpp._network import Cache  # noqa: PLC0415  # needs llama_cpp

    ids = model.tokenizer.encode(TEXT)
    expected = walk(model, ids[:3], ids[3:])
    monkeypatch.setattr(Cache, "forget", lambda *_: False)
    decoder = model.start(ids[:3])
    for at, token in enumerate(ids[3:], 1):
        for other in (5, 6):
            decoder.push(other)
        decoder.rewind(1)
        decoder.rewind(1)
        decoder.push(token)
        assert np.array_equal(decoder.logits(), expected[at])


def test_digest_follows_file_threads_and_context(
    model: ticore.LanguageModel, path: Path, tmp_path: Path
) -> None:
    (tmp_path / "copy.gguf").write_bytes(path.read_bytes())
    assert ticore.load_model(f"llamacpp:{tmp_path / 'copy.gguf'}").digest() == model.digest()
    others: list[dict[str, object]] = [{"threads": 2}, {"context": 32}]
    found = {ticore.load_model(f"llamacpp:{path}", **options).digest() for options in others}
    assert len(found | {model.digest()}) == 3


def test_context_is_a_limit(path: Path) -> None:
    decoder = ticore.load_model(f"llamacpp:{path}", context=16).start([5] * 15)
    with pytest.raises(CapacityError):
        decoder.push(5)


def test_bad_options_and_files_are_refused(path: Path, tmp_path: Path) -> None:
    bad: list[dict[str, object]] = [
        {"dtype": "float32"},
        {"threads": 0},
        {"threads": True},
        {"context": 1},
        {"tokenizer": 3},
    ]
    with pytest.raises(SettingsError, match="open the file with gguf:"):
        ticore.Steganographer(
            ticore.load_model(f"llamacpp:{path}"), key=bytes(32), prompt="a", numerics="portable"
        )
    for options in bad:
        with pytest.raises(SettingsError):
            ticore.load_model(f"llamacpp:{path}", **options)
    with pytest.raises(ModelFilesError, match="to be a GGUF file, found none"):
        ticore.load_model(f"llamacpp:{tmp_path}")
    whole = path.read_bytes()
    cut = tmp_path / "cut.gguf"
    for size in (0, 3, 100, len(whole) // 2, len(whole) - 1):
        cut.write_bytes(whole[:size])
        with pytest.raises(ModelFilesError):
            ticore.load_model(f"llamacpp:{cut}")


def test_model_that_llama_cpp_refuses_is_refused_with_its_reason(tmp_path: Path) -> None:
    tensors = dict(tensors_of("llama", LLAMA))
    del tensors["model.norm.weight"]
    path = write_gguf(tmp_path / "a.gguf", "llama", LLAMA, tensors, more=tokenizer_of)
    with pytest.raises(ModelFilesError, match=r"it refuses \(.*output_norm"):
        ticore.load_model(f"llamacpp:{path}")


def test_model_that_looks_ahead_is_refused(tmp_path: Path) -> None:
    def write(writer: Any) -> None:
        tokenizer_of(writer)
        writer.add_bool("llama.attention.causal", False)

    path = write_gguf(tmp_path / "a.gguf", "llama", LLAMA, tensors_of("llama", LLAMA), more=write)
    with pytest.raises(ModelFilesError, match="causal"):
        ticore.load_model(f"llamacpp:{path}")
