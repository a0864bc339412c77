"""The files of a tiny Llama: one of them is damaged, the others are valid."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from safetensors.numpy import save

from tests.fuzz.mutations import damaged_bytes, damaged_json
from ticore.errors import CapacityError
from ticore.interfaces import ModelBackend

from .base import Parser

VOCABULARY, WIDTH, INNER, LAYERS = 20, 8, 12, 2
CONFIG: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "vocab_size": VOCABULARY,
    "hidden_size": WIDTH,
    "intermediate_size": INNER,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "max_position_embeddings": 64,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "rope_scaling": None,
    "tie_word_embeddings": True,
    "hidden_act": "silu",
    "attention_bias": False,
    "mlp_bias": False,
    "bos_token_id": 1,
    "eos_token_id": [2, 3],
}
GENERATION: dict[str, Any] = {"bos_token_id": 1, "eos_token_id": [2, 3], "temperature": 0.6}
TOKENIZER_CONFIG: dict[str, Any] = {"add_bos_token": True, "tokenizer_class": "LlamaTokenizer"}
TOKENIZER_START: dict[str, Any] = {
    "post_processor": {
        "type": "Sequence",
        "processors": [
            {"type": "ByteLevel"},
            {
                "type": "TemplateProcessing",
                "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}],
                "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}},
            },
        ],
    }
}


def _tensors() -> dict[str, np.ndarray]:
    rng, head = np.random.default_rng(0), WIDTH // 2
    shapes: dict[str, tuple[int, ...]] = {
        "model.embed_tokens": (VOCABULARY, WIDTH),
        "model.norm": (WIDTH,),
    }
    for layer in range(LAYERS):
        at = f"model.layers.{layer}"
        shapes |= {f"{at}.{norm}": (WIDTH,) for norm in NORMS}
        shapes |= {f"{at}.self_attn.{name}_proj": (WIDTH, WIDTH) for name in "qo"}
        shapes |= {f"{at}.self_attn.{name}_proj": (head, WIDTH) for name in "kv"}
        shapes |= {f"{at}.mlp.{name}_proj": (INNER, WIDTH) for name in ("gate", "up")}
        shapes[f"{at}.mlp.down_proj"] = WIDTH, INNER
    return {
        f"{name}.weight": rng.normal(size=shape).astype(np.float32)
        for name, shape in shapes.items()
    }


NORMS = ("input_layernorm", "post_attention_layernorm")
SHARD = "model-00001-of-00001.safetensors"
WEIGHTS = save(_tensors(), metadata={"format": "pt"})
INDEX: dict[str, Any] = {
    "metadata": {"total_size": 1},
    "weight_map": dict.fromkeys(_tensors(), SHARD),
}
_SOUND = {
    "config.json": json.dumps(CONFIG).encode(),
    "generation_config.json": b"{}",
    "tokenizer.model": b"",
    "model.safetensors": WEIGHTS,
}
_OTHER_FILES = ("tokenizer.json", "tokenizer_config.json", "model.safetensors.index.json", SHARD)


class Numbers:
    """The part of a tokenizer that loading a model needs."""

    vocab_size = VOCABULARY

    def digest(self) -> str:
        return "numbers"


def written(document: object) -> Callable[[], Sequence[bytes]]:
    return lambda: [json.dumps(document).encode()]


def open_model(backend: ModelBackend, name: str, content: bytes, path: Path) -> None:
    """Load the model whose file `name` holds `content`, and read some ids."""
    folder = path.parent
    files = _SOUND | {name: content}
    if name == "model.safetensors.index.json":
        files[SHARD] = files.pop("model.safetensors")
    for other in {*_SOUND, *_OTHER_FILES}:
        (folder / other).unlink(missing_ok=True)
    for file, data in files.items():
        (folder / file).write_bytes(data)
    model = backend.load(str(folder), lambda place: Numbers(), {})  # type: ignore[return-value]
    with np.errstate(all="ignore"):  # weights may be anything
        logits = model.score([4, 5, 6])
    assert logits.shape == (3, model.logit_width), f"logits of shape {logits.shape}"
    decoder = model.start([4, 5])
    try:
        decoder.push(6)
    except CapacityError:  # a context of two
        return
    decoder.rewind(1)
    assert model.eos_ids <= {*range(model.logit_width)}, f"ends {model.eos_ids}"
    model.digest()


def parser_of_config(name: str, backend: ModelBackend) -> Parser:
    """The config of a model, read by a backend that takes tenths of a second per file."""
    name, opened = f"config.json on {name}", partial(open_model, backend, "config.json")
    return Parser(name, written(CONFIG), damaged_json, opened, cases=20, thorough=300)


def damaged_weights(draw: Random, data: bytes) -> bytes:
    """Weights with bytes changed, mostly in the header, or with the JSON of the header changed."""
    start = 8 + int.from_bytes(data[:8], "little")
    header, numbers = data[8:start], data[start:]
    match draw.randrange(4):
        case 0:
            return damaged_bytes(draw, data)
        case 1:
            return damaged_bytes(draw, data[:start]) + numbers
        case 2:
            header = damaged_bytes(draw, header)
        case _:
            header = damaged_json(draw, header)
    return len(header).to_bytes(8, "little") + header + numbers
