"""Writes models and tokenizers as GGUF files, as llama.cpp's converter does.

Names of tensors are looked up in the package `gguf`, and layouts are changed by code of its own, so
that what reads the files is not compared with itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sentencepiece import sentencepiece_model_pb2

pytest.importorskip("gguf", reason="gguf is not installed")

import gguf

from ticore_sentencepiece import SentencePieceTokenizer

Arrays = Mapping[str, np.ndarray]
Write = Callable[[Any], object]

_SIZES = {
    "context_length": ("max_position_embeddings", "n_positions"),
    "embedding_length": ("hidden_size", "n_embd"),
    "block_count": ("num_hidden_layers", "n_layer"),
    "feed_forward_length": ("intermediate_size", "n_inner"),
    "attention.head_count": ("num_attention_heads", "n_head"),
    "attention.head_count_kv": ("num_key_value_heads",),
    "attention.key_length": ("head_dim",),
    "attention.value_length": ("head_dim",),
    "attention.sliding_window": ("sliding_window",),
}
_NUMBERS = {
    "attention.layer_norm_rms_epsilon": ("rms_norm_eps",),
    "attention.layer_norm_epsilon": ("layer_norm_epsilon",),
    "rope.freq_base": ("rope_theta",),
}


def write_gguf(
    path: Path,
    family: str,
    settings: Mapping[str, Any],
    tensors: Arrays,
    *,
    kind: Any = None,
    more: Write = lambda writer: None,
) -> Path:
    """A model of `family` with the settings and tensors of its Hugging Face checkpoint.

    Args:
        path: of the new file.
        family: what llama.cpp calls it.
        settings: of config.json.
        tensors: float32, by their names in the checkpoint.
        kind: in which matrices are packed; None for float32.
        more: writes more metadata, such as those of a tokenizer.
    """
    writer = gguf.GGUFWriter(path, family)
    for table, add in ((_SIZES, writer.add_uint32), (_NUMBERS, writer.add_float32)):
        for key, names in table.items():
            value = next((settings[name] for name in names if settings.get(name)), None)
            if value is not None:
                add(f"{family}.{key}", value)
    more(writer)
    (arch,) = (arch for arch, name in gguf.MODEL_ARCH_NAMES.items() if name == family)
    names = gguf.get_tensor_name_map(arch, 9)
    for name, array in tensors.items():
        stem, _, end = name.rpartition(".")
        found = names.get_name(stem)
        assert found is not None, name
        numbers = _as_llama_cpp(family, settings, stem, array)
        if kind is not None and numbers.ndim > 1:
            writer.add_tensor(f"{found}.{end}", gguf.quantize(numbers, kind), raw_dtype=kind)
        else:
            writer.add_tensor(f"{found}.{end}", numbers)
    return _written(writer, path)


def write_tokenizer(path: Path, more: Write) -> Path:
    """A file without a model."""
    writer = gguf.GGUFWriter(path, "llama")
    more(writer)
    return _written(writer, path)


def pieces_of(tokenizer: SentencePieceTokenizer) -> Write:
    """Writes the tokenizer of a SentencePiece model."""
    model = sentencepiece_model_pb2.ModelProto.FromString(  # type: ignore[attr-defined]
        tokenizer._library.serialized_model_proto()
    )
    user_defined = 4

    def write(writer: Any) -> None:
        unigram = model.trainer_spec.model_type == 1
        writer.add_tokenizer_model("t5" if unigram else "llama")
        writer.add_token_list(
            [
                piece.piece.replace("\u2581", " ") if piece.type == user_defined else piece.piece
                for piece in model.pieces
            ]
        )
        writer.add_token_scores([piece.score for piece in model.pieces])
        writer.add_token_types([piece.type for piece in model.pieces])
        writer.add_bos_token_id(1)
        writer.add_eos_token_id(2)
        writer.add_unk_token_id(model.trainer_spec.unk_id)
        writer.add_add_space_prefix(model.normalizer_spec.add_dummy_prefix)
        writer.add_remove_extra_whitespaces(model.normalizer_spec.remove_extra_whitespaces)
        if model.normalizer_spec.precompiled_charsmap:
            writer.add_precompiled_charsmap(model.normalizer_spec.precompiled_charsmap)

    return write


def merges_of(state: Mapping[str, Any], pretokenizer: str) -> Write:
    """Writes the byte-level BPE of a tokenizer.json, which splits a text as this name says."""
    added = {token["id"]: token for token in state["added_tokens"]}
    names = {token: name for name, token in state["model"]["vocab"].items()}
    names |= {token: each["content"] for token, each in added.items()}
    special, user_defined, normal, unused = 3, 4, 1, 5

    def kind(token: int) -> int:
        if token not in names:
            return unused
        return (special if added[token]["special"] else user_defined) if token in added else normal

    def write(writer: Any) -> None:
        size = max(names) + 1
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre(pretokenizer)
        writer.add_token_list([names.get(token, f"[PAD{token}]") for token in range(size)])
        writer.add_token_types([kind(token) for token in range(size)])
        merges = state["model"]["merges"]
        writer.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in merges])

    return write


def _as_llama_cpp(
    family: str, settings: Mapping[str, Any], stem: str, array: np.ndarray
) -> np.ndarray:
    heads = {"q_proj": "num_attention_heads", "k_proj": "num_key_value_heads"}
    last = stem.rpartition(".")[2]
    if family == "llama" and last in heads:
        count = settings[heads[last]]
        halves = array.reshape(count, 2, len(array) // count // 2, *array.shape[1:])
        array = halves.swapaxes(1, 2).reshape(array.shape)
    elif family == "gemma3" and last.endswith("norm"):
        array = array + np.float32(1)
    elif family == "gpt2" and last in ("c_attn", "c_proj", "c_fc") and array.ndim > 1:
        array = array.T
    return np.ascontiguousarray(array, np.float32)


def _written(writer: Any, path: Path) -> Path:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
