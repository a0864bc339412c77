"""config.json of each architecture in the Hugging Face layout, and what is refused of it.

What no backend computes is refused here, by name, before any weight is read: a network that is
almost the right one would otherwise answer with numbers that are almost right.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from ...errors import ModelFilesError
from ..checkpoint import Fields
from ._config import NetworkConfig
from ._rope import Rope, parse_rope, parse_variant

_ADVICE = "this backend would compute something else, use another backend for this model"
_ADVICE_ON_IDS = "correct it there, or in generation_config.json, which overrules it"
# Older configs of Gemma 3 say how often a layer sees everything; every sixth, if they do not.
_GEMMA3_PATTERN = 6


def parse_config(
    settings: Mapping[str, object],
    where: str = "config.json",
    architectures: Collection[str] | None = None,
) -> NetworkConfig:
    """What `settings` state, with the defaults of transformers for what they leave out.

    Args:
        settings: a parsed `config.json`.
        where: what the error texts call it.
        architectures: those that the backend computes; None for all of `ARCHITECTURES`.

    Raises:
        ModelFilesError: an architecture that is not supported, or a field that is missing,
            invalid, contradicts another or asks for a variant that is not computed.
    """
    known = ARCHITECTURES if architectures is None else architectures
    fields = Fields(settings, where, _ADVICE)
    architecture = fields.get("model_type")
    if not isinstance(architecture, str) or architecture not in known:
        raise ModelFilesError(
            f"{where}: expected model_type to be one of {', '.join(known)}, "
            f"found {architecture!r}; use another backend for this model"
        )
    return _FAMILIES[architecture](fields)


def _llama(fields: Fields) -> NetworkConfig:
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


def _mistral(fields: Fields) -> NetworkConfig:
    # With these, transformers opens another network: Ministral, whose layers take turns.
    fields.one_of("layer_types", None, (None,))
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


def _qwen2(fields: Fields) -> NetworkConfig:
    layers = fields.layers("num_hidden_layers")
    windows: tuple[int | None, ...] = (None,) * layers
    if fields.flag("use_sliding_window", False):
        first = fields.get("max_window_layers", 28)
        if type(first) is not int:
            raise fields.error("max_window_layers", "an integer", first)
        if fields.settings.get("sliding_window", "absent") is not None:  # a null means no window
            windows = _windows(fields, [i >= first for i in range(layers)])
    if windows == (None,) * layers and "sliding_attention" in _listed(fields, "layer_types"):
        kinds = fields.get("layer_types")
        raise fields.error("layer_types", "made of full_attention, for there is no window", kinds)
    return _rotary(fields, architecture="qwen2", qkv_bias=True, windows=windows, bos=None, eos=None)


def _listed(fields: Fields, name: str) -> list[object]:
    found = fields.get(name)
    return found if isinstance(found, list) else []


def _gemma3(fields: Fields) -> NetworkConfig:
    fields.one_of("final_logit_softcapping", None, (None,))
    fields.one_of("attn_logit_softcapping", None, (None,))
    fields.one_of("use_bidirectional_attention", False, (False,))
    layers = fields.layers("num_hidden_layers")
    pattern = fields.size("sliding_window_pattern", _GEMMA3_PATTERN)
    attention_bias = fields.flag("attention_bias", False)
    context = fields.size("max_position_embeddings", 131072)
    rope, window_rope = _gemma3_ropes(fields, context)
    return _rotary(
        fields,
        architecture="gemma3_text",
        activation=("hidden_activation", "gelu_pytorch_tanh"),
        windows=_windows(fields, [(i + 1) % pattern != 0 for i in range(layers)]),
        bos=2,
        eos=1,
        kv_heads=4,
        head_dim=256,
        context=context,
        tied=True,
        qkv_bias=attention_bias,
        output_bias=attention_bias,
        rope=rope,
        window_rope=window_rope,
        query_divisor=fields.positive("query_pre_attn_scalar", 256.0),
    )


def _gemma3_ropes(fields: Fields, context: int) -> tuple[Rope, Rope]:
    """The variant of layers that see everything, and of those with a window.

    Newer configs have an object for each in `rope_parameters`; older ones name two bases, and
    scale the angles of layers that see everything only.
    """
    both = fields.section("rope_parameters")
    whole = both.section("full_attention")
    scaling = fields.section("rope_scaling")
    for name, value in both.settings.items():
        if name not in ("full_attention", "sliding_attention"):
            raise both.error(name, "in full_attention or sliding_attention", value)
    if scaling.settings:
        whole = Fields({**whole.settings, **scaling.settings}, scaling.where, _ADVICE)
    theta = fields.positive("rope_theta", 1_000_000.0)
    window_theta = fields.positive("rope_local_base_freq", 10_000.0)
    kinds = ("default", "linear")
    return (
        parse_variant(whole, theta, context, kinds),
        parse_variant(both.section("sliding_attention"), window_theta, context, kinds),
    )


def _windows(fields: Fields, sliding: list[bool]) -> tuple[int | None, ...]:
    """The window of each layer; `sliding` says which have one where the config does not."""
    names = {True: "sliding_attention", False: "full_attention"}
    kinds = fields.get("layer_types", [names[each] for each in sliding])
    if not isinstance(kinds, list) or len(kinds) != len(sliding):
        raise fields.error("layer_types", f"a list of {len(sliding)} names", kinds)
    if unknown := [kind for kind in kinds if kind not in names.values()]:
        raise fields.error("layer_types", f"made of {' and '.join(names.values())}", unknown[0])
    window = fields.size("sliding_window", 4096)
    return tuple(window if kind == names[True] else None for kind in kinds)


def _rotary(
    fields: Fields,
    *,
    architecture: str,
    windows: tuple[int | None, ...],
    bos: int | None,
    eos: int | None,
    kv_heads: int | None = None,
    head_dim: int | None = None,
    context: int | None = None,
    tied: bool = False,
    activation: tuple[str, str] = ("hidden_act", "silu"),
    qkv_bias: bool = False,
    output_bias: bool = False,
    mlp_bias: bool = False,
    rope: Rope | None = None,
    window_rope: Rope | None = None,
    query_divisor: float | None = None,
) -> NetworkConfig:
    """Llama and its descendants.

    They differ in biases, windows, angles, and in what fields are where a config leaves them out:
    `bos` to `tied` are these values.
    """
    fields.one_of(*activation, activation[1:])
    heads, width = fields.size("num_attention_heads"), fields.size("hidden_size")
    kv_heads = fields.size("num_key_value_heads", kv_heads or heads)
    if heads % kv_heads:
        raise fields.error("num_key_value_heads", f"a divisor of the {heads} heads", kv_heads)
    head_dim = fields.size("head_dim", head_dim or width // heads)
    if head_dim % 2:  # rotary embedding turns pairs
        raise fields.error("head_dim", "even", head_dim)
    vocab_size = fields.size("vocab_size")
    context = fields.size("max_position_embeddings", context)
    bos_token, eos_ids = _separators(fields, bos, eos, vocab_size)
    return NetworkConfig(
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
        tied=fields.flag("tie_word_embeddings", tied),
        qkv_bias=qkv_bias,
        output_bias=output_bias,
        mlp_bias=mlp_bias,
        windows=windows,
        rope=rope or parse_rope(fields, context),
        bos_token=bos_token,
        eos_ids=eos_ids,
        window_rope=window_rope,
        query_divisor=query_divisor,
    )


def _gpt2(fields: Fields) -> NetworkConfig:
    fields.one_of("activation_function", "gelu_new", ("gelu_new",))
    fields.one_of("scale_attn_weights", True, (True,))
    fields.one_of("scale_attn_by_inverse_layer_idx", False, (False,))
    fields.one_of("add_cross_attention", False, (False,))
    heads, width, layers = fields.size("n_head"), fields.size("n_embd"), fields.layers("n_layer")
    # transformers knows other names as well, and takes theirs where both are given.
    for name, value in (
        ("num_attention_heads", heads),
        ("hidden_size", width),
        ("num_hidden_layers", layers),
        ("max_position_embeddings", fields.size("n_positions")),
    ):
        fields.one_of(name, value, (value,))
    if width % heads:
        raise fields.error("n_embd", f"a multiple of the {heads} heads", width)
    vocab_size = fields.size("vocab_size")
    bos_token, eos_ids = _separators(fields, 50256, 50256, vocab_size)
    return NetworkConfig(
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
    fields = replace(fields, advice=_ADVICE_ON_IDS)
    bos_ids = fields.tokens("bos_token_id", bos, vocab_size)
    eos_ids = fields.tokens("eos_token_id", eos, vocab_size)
    if not bos_ids and not eos_ids:
        raise fields.error("bos_token_id or eos_token_id", "a token id", None)
    return next(iter(bos_ids), None), eos_ids


_FAMILIES: dict[str, Callable[[Fields], NetworkConfig]] = {
    "llama": _llama,
    "mistral": _mistral,
    "qwen2": _qwen2,
    "gemma3_text": _gemma3,
    "gpt2": _gpt2,
}
ARCHITECTURES = tuple(_FAMILIES)
"""The architectures whose settings are read."""
