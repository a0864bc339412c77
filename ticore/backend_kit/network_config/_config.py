"""The sizes and variants of a decoder, in terms that all architectures share."""

from __future__ import annotations

from dataclasses import dataclass, field

from ._facts import LATER, facts_of
from ._rope import Rope


@dataclass(frozen=True)
class NetworkConfig:
    """Sizes and variants of a decoder.

    Attributes:
        architecture: `model_type` of the file: llama, mistral, qwen2, gemma3_text or gpt2.
        context: most positions, the start token's included.
        width: numbers in the state of a position.
        inner: width of the feed-forward part.
        heads, kv_heads, head_dim: heads of queries, of keys and values, and the width of each.
        tied: the head multiplies by the embedding.
        qkv_bias, output_bias, mlp_bias: which products add a bias.
        windows: for each layer the number of last positions that it sees, None for all.
        rope: how positions turn queries and keys; None where positions are learned.
        bos_token: id that begins a text, if any.
        eos_ids: ids that end a text; if there are none, there is a `bos_token`.
        window_rope: how positions turn queries and keys in layers with a window; None: as `rope`.
        query_divisor: products of queries and keys are divided by its square root; None: by that
            of head_dim.
    """

    architecture: str
    vocab_size: int
    context: int
    width: int
    inner: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    norm_eps: float
    tied: bool
    qkv_bias: bool
    output_bias: bool
    mlp_bias: bool
    windows: tuple[int | None, ...]
    rope: Rope | None
    bos_token: int | None
    eos_ids: tuple[int, ...]
    window_rope: Rope | None = field(default=None, metadata=LATER)
    query_divisor: float | None = field(default=None, metadata=LATER)

    @property
    def attention_scale(self) -> float:
        """What products of queries and keys are multiplied by."""
        return float((self.query_divisor or self.head_dim) ** -0.5)

    def rope_of(self, window: int | None) -> Rope | None:
        """How positions turn queries and keys in a layer of this window."""
        return self.rope if window is None or self.window_rope is None else self.window_rope

    def facts(self) -> object:
        """All of it, for a digest: nested dicts that JSON can hold, the same in later versions."""
        return facts_of(self)
