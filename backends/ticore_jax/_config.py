"""config.json of a decoder in the Hugging Face layout, in terms that all architectures share.

What this backend cannot compute is refused here, by name, before any weight is read: a network
that is almost the right one would otherwise answer with numbers that are almost right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ticore.backend_kit.checkpoint import Fields
from ticore.errors import ModelFilesError

from ._rope import Rope, parse_rope

_ADVICE = "the JAX backend would compute something else, use another backend for this model"


@dataclass(frozen=True)
class Config:
    """Sizes and variants of a decoder.

    Attributes:
        architecture: `model_type` of the file: llama, mistral, qwen2 or gpt2.
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


def parse_config(settings: Mapping[str, object], where: str = "config.json") -> Config:
    """What `settings` state, with the defaults of transformers for what they leave out.

    Args:
        settings: a parsed `config.json`.
        where: what the error texts call it.

    Raises:
        ModelFilesError: an architecture that is not supported, or a field that is missing,
            invalid, contradicts another or asks for a variant that is not computed here.
    """
    fields = Fields(settings, where, _ADVICE)
    architecture = fields.get("model_type")
    if not isinstance(architecture, str) or architecture not in _ARCHITECTURES:
        raise ModelFilesError(
            f"{where}: expected model_type to be one of {', '.join(_ARCHITECTURES)}, "
            f"found {architecture!r}; use another backend for this model"
        )
    return _ARCHITECTURES[architecture](fields)


def _llama(fields: Fields) -> Config:
    attention_bias = fields.flag("attention_bias", False)
    return _rotary(
        fields,
        architecture="llama",
        qkv_bias=attention_bias,
        output_bias=attention_bias,
        mlp_bias=fields.flag("mlp_bias", False),
        windows=(None,) * fields.layers("num_hidden_layers"),
        bos=1,
        eos=2,
    )


def _mistral(fields: Fields) -> Config:
    # transformers has a default window for these. A null does not ask for it: it means no window.
    window = None
    if fields.settings.get("sliding_window", "absent") is not None:
        window = fields.size("sliding_window", 4096)
    return _rotary(
        fields,
        architecture="mistral",
        windows=(window,) * fields.layers("num_hidden_layers"),
        bos=1,
        eos=2,
    )


def _qwen2(fields: Fields) -> Config:
    layers = fields.layers("num_hidden_layers")
    windows: tuple[int | None, ...] = (None,) * layers
    if fields.flag("use_sliding_window", False):
        window = fields.size("sliding_window", 4096)
        first = fields.get("max_window_layers", 28)
        if type(first) is not int:
            raise fields.error("max_window_layers", "an integer", first)
        kinds = fields.get(
            "layer_types",
            ["sliding_attention" if i >= first else "full_attention" for i in range(layers)],
        )
        if not isinstance(kinds, list) or len(kinds) != layers:
            raise fields.error("layer_types", f"a list of {layers} names", kinds)
        windows = tuple(window if kind == "sliding_attention" else None for kind in kinds)
    return _rotary(fields, architecture="qwen2", qkv_bias=True, windows=windows, bos=None, eos=None)


def _rotary(
    fields: Fields,
    *,
    architecture: str,
    windows: tuple[int | None, ...],
    bos: int | None,
    eos: int | None,
    qkv_bias: bool = False,
    output_bias: bool = False,
    mlp_bias: bool = False,
) -> Config:
    """Llama and its descendants, which differ in biases, windows and default ids."""
    fields.one_of("hidden_act", "silu", ("silu",))
    heads, width = fields.size("num_attention_heads"), fields.size("hidden_size")
    kv_heads = fields.size("num_key_value_heads", heads)
    if heads % kv_heads:
        raise fields.error("num_key_value_heads", f"a divisor of the {heads} heads", kv_heads)
    head_dim = fields.size("head_dim", width // heads)
    if head_dim % 2:  # rotary embedding turns pairs
        raise fields.error("head_dim", "even", head_dim)
    vocab_size, context = fields.size("vocab_size"), fields.size("max_position_embeddings")
    bos_token, eos_ids = _separators(fields, bos, eos, vocab_size)
    return Config(
        architecture=architecture,
        vocab_size=vocab_size,
        context=context,
        width=width,
        inner=fields.size("intermediate_size"),
        layers=len(windows),
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        norm_eps=fields.positive("rms_norm_eps", 1e-6),
        tied=fields.flag("tie_word_embeddings", False),
        qkv_bias=qkv_bias,
        output_bias=output_bias,
        mlp_bias=mlp_bias,
        windows=windows,
        rope=parse_rope(fields, context),
        bos_token=bos_token,
        eos_ids=eos_ids,
    )


def _gpt2(fields: Fields) -> Config:
    fields.one_of("activation_function", "gelu_new", ("gelu_new",))
    fields.one_of("scale_attn_weights", True, (True,))
    fields.one_of("scale_attn_by_inverse_layer_idx", False, (False,))
    fields.one_of("add_cross_attention", False, (False,))
    heads, width, layers = fields.size("n_head"), fields.size("n_embd"), fields.layers("n_layer")
    if width % heads:
        raise fields.error("n_embd", f"a multiple of the {heads} heads", width)
    vocab_size = fields.size("vocab_size")
    bos_token, eos_ids = _separators(fields, 50256, 50256, vocab_size)
    return Config(
        architecture="gpt2",
        vocab_size=vocab_size,
        context=fields.size("n_positions"),
        width=width,
        inner=fields.size("n_inner", 4 * width),
        layers=layers,
        heads=heads,
        kv_heads=heads,
        head_dim=width // heads,
        norm_eps=fields.positive("layer_norm_epsilon", 1e-5),
        tied=fields.flag("tie_word_embeddings", True),
        qkv_bias=True,
        output_bias=True,
        mlp_bias=True,
        windows=(None,) * layers,
        rope=None,
        bos_token=bos_token,
        eos_ids=eos_ids,
    )


def _separators(
    fields: Fields, bos: int | None, eos: int | None, vocab_size: int
) -> tuple[int | None, tuple[int, ...]]:
    """The id that begins a text, and those that end one. An empty text needs one to begin with."""
    bos_ids = fields.tokens("bos_token_id", bos, vocab_size)
    eos_ids = fields.tokens("eos_token_id", eos, vocab_size)
    if not bos_ids and not eos_ids:
        raise fields.error("bos_token_id or eos_token_id", "a token id", None)
    return next(iter(bos_ids), None), eos_ids


_ARCHITECTURES: dict[str, Callable[[Fields], Config]] = {
    "llama": _llama,
    "mistral": _mistral,
    "qwen2": _qwen2,
    "gpt2": _gpt2,
}
