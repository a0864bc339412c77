"""Stored tensors in, arrays ready to multiply out.

Every tensor's presence, type and shape is checked against the config before any is converted.
Matrices keep the file's layout, one row per output: reading one token multiplies a row vector by
the transpose, which BLAS does as one dot product per row, at the speed of memory. Matrices that
read the same input are stacked, for fewer and larger products.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ticore.backend_kit.checkpoint import StoredTensor, Tensors

from ._config import LlamaConfig

Array = npt.NDArray[np.floating]


@dataclass(frozen=True)
class Layer:
    """One transformer block.

    Attributes:
        attention_norm, ffn_norm: float[hidden].
        qkv: float[(heads + 2 * kv heads) * head_dim, hidden], queries, then keys, then values.
        output: float[hidden, hidden].
        gate_up: float[2 * intermediate, hidden], the gate's rows first.
        down: float[hidden, intermediate].
    """

    attention_norm: Array
    qkv: Array
    output: Array
    ffn_norm: Array
    gate_up: Array
    down: Array


@dataclass(frozen=True)
class Weights:
    """A whole network in one dtype.

    Attributes:
        embedding: float[vocab, hidden].
        norm: float[hidden], applied after the last layer.
        head: float[vocab, hidden]; the same array as `embedding` where the two are tied.
        digest: SHA-256 hex digest of the tensors as they are stored, in any order.
    """

    embedding: Array
    layers: tuple[Layer, ...]
    norm: Array
    head: Array
    digest: str


def read_weights(tensors: Tensors, config: LlamaConfig, dtype: npt.DTypeLike) -> Weights:
    """The network of `config`.

    Args:
        tensors: as they are stored.
        config: says which there must be, and their shapes.
        dtype: float32 or float64, to which everything is converted.

    Raises:
        ModelFilesError: a tensor is missing, superfluous, of another shape, or of a type other
            than float16, bfloat16 and float32.
    """
    stored = {name: tensors.take(name, shape, _CODES) for name, shape in expected_shapes(config)}
    tensors.refuse_rest(_harmless)

    def stack(*names: str) -> Array:
        return np.concatenate([_to_float(stored[f"{name}.weight"], dtype) for name in names])

    def layer(at: str) -> Layer:
        return Layer(
            attention_norm=stack(f"{at}.input_layernorm"),
            qkv=stack(*(f"{at}.self_attn.{x}_proj" for x in "qkv")),
            output=stack(f"{at}.self_attn.o_proj"),
            ffn_norm=stack(f"{at}.post_attention_layernorm"),
            gate_up=stack(f"{at}.mlp.gate_proj", f"{at}.mlp.up_proj"),
            down=stack(f"{at}.mlp.down_proj"),
        )

    embedding = stack("model.embed_tokens")
    return Weights(
        embedding=embedding,
        layers=tuple(layer(f"model.layers.{i}") for i in range(config.num_hidden_layers)),
        norm=stack("model.norm"),
        head=embedding if config.tie_word_embeddings else stack("lm_head"),
        digest=tensors.digest(),
    )


def expected_shapes(config: LlamaConfig) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Names and shapes of the tensors that a Llama of these sizes consists of.

    They are yielded one by one, so that a search for them ends at the first that is missing,
    however many layers a config states.
    """
    hidden, inner = config.hidden_size, config.intermediate_size
    kv_width = config.num_key_value_heads * config.head_dim
    yield "model.embed_tokens.weight", (config.vocab_size, hidden)
    yield "model.norm.weight", (hidden,)
    if not config.tie_word_embeddings:
        yield "lm_head.weight", (config.vocab_size, hidden)
    for i in range(config.num_hidden_layers):
        layer: dict[str, tuple[int, ...]] = {
            "input_layernorm": (hidden,),
            "self_attn.q_proj": (hidden, hidden),
            "self_attn.k_proj": (kv_width, hidden),
            "self_attn.v_proj": (kv_width, hidden),
            "self_attn.o_proj": (hidden, hidden),
            "post_attention_layernorm": (hidden,),
            "mlp.gate_proj": (inner, hidden),
            "mlp.up_proj": (inner, hidden),
            "mlp.down_proj": (hidden, inner),
        }
        for name, shape in layer.items():
            yield f"model.layers.{i}.{name}.weight", shape


def _to_float(tensor: StoredTensor, dtype: npt.DTypeLike) -> Array:
    if tensor.code == "BF16":
        # NumPy has no bfloat16, but it is the upper half of a float32.
        wide = tensor.data.view("<u2").astype(np.uint32) << 16
        numbers: Array = wide.view(np.float32)
    else:
        numbers = tensor.data.view(_NUMPY_TYPES[tensor.code])
    return numbers.astype(dtype).reshape(tensor.shape)


_NUMPY_TYPES = {"F16": "<f2", "F32": "<f4"}
_CODES = {"BF16", *_NUMPY_TYPES}


def _harmless(name: str) -> bool:
    """A tied head may be stored all the same, and old exports keep the rotary frequencies."""
    return name == "lm_head.weight" or name.endswith("rotary_emb.inv_freq")
