"""config.json of a Llama in the Hugging Face layout, as far as the embedded runner needs it.

What this runner cannot compute is refused here, by name, before any weight is read: a network
that is almost a Llama would otherwise answer with numbers that are almost right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ticore.backend_kit.checkpoint import Fields

_ADVICE = "the embedded runner computes plain Llamas only, use another backend for others"


@dataclass(frozen=True)
class LlamaConfig:
    """Sizes of a Llama. Names and units are those of the Hugging Face `config.json`."""

    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    max_position_embeddings: int
    rms_norm_eps: float
    rope_theta: float
    tie_word_embeddings: bool
    bos_token_id: int
    eos_token_id: int | tuple[int, ...]

    @property
    def head_dim(self) -> int:
        """Width of one attention head."""
        return self.hidden_size // self.num_attention_heads

    @property
    def eos_ids(self) -> frozenset[int]:
        """Ids that end a text; a config may name one, several or none."""
        eos = self.eos_token_id
        return frozenset((eos,) if isinstance(eos, int) else eos)


def parse_config(settings: Mapping[str, object], where: str = "config.json") -> LlamaConfig:
    """The sizes that `settings` state, with the defaults of transformers for what they leave out.

    Args:
        settings: a parsed `config.json`.
        where: what the error texts call it.

    Raises:
        ModelFilesError: a field is missing, invalid or contradicts another, or asks for a variant
            of Llama that the embedded runner does not compute.
    """
    fields = Fields(settings, where, _ADVICE)
    fields.one_of("model_type", None, ("llama",))
    fields.one_of("hidden_act", "silu", ("silu",))
    fields.one_of("attention_bias", False, (False,))
    fields.one_of("mlp_bias", False, (False,))
    heads = fields.size("num_attention_heads")
    config = LlamaConfig(
        vocab_size=fields.size("vocab_size"),
        hidden_size=fields.size("hidden_size"),
        intermediate_size=fields.size("intermediate_size"),
        num_hidden_layers=fields.layers("num_hidden_layers"),
        num_attention_heads=heads,
        num_key_value_heads=fields.size("num_key_value_heads", heads),
        max_position_embeddings=fields.size("max_position_embeddings"),
        rms_norm_eps=fields.positive("rms_norm_eps", 1e-6),
        rope_theta=_rope_theta(fields),
        tie_word_embeddings=fields.flag("tie_word_embeddings", False),
        bos_token_id=_token(fields, "bos_token_id", 1),
        eos_token_id=_eos(fields),
    )
    _check_heads(config, fields)
    for name, token in (
        ("bos_token_id", config.bos_token_id),
        *(("eos_token_id", token) for token in config.eos_ids),
    ):
        if token >= config.vocab_size:
            raise fields.error(name, f"an id below vocab_size, {config.vocab_size}", token)
    return config


def _check_heads(config: LlamaConfig, fields: Fields) -> None:
    """Heads must share the width evenly, and rotary embedding turns pairs: heads of even width."""
    width, heads, groups = (
        config.hidden_size,
        config.num_attention_heads,
        config.num_key_value_heads,
    )
    if width % (2 * heads):
        raise fields.error("hidden_size", f"a multiple of twice the {heads} heads", width)
    if heads % groups:
        raise fields.error("num_key_value_heads", f"a divisor of the {heads} heads", groups)
    fields.one_of("head_dim", config.head_dim, (config.head_dim,))


def _rope_theta(fields: Fields) -> float:
    """Base of the rotary frequencies; newer configs keep it in `rope_parameters`."""
    for name in ("rope_parameters", "rope_scaling"):
        value = fields.settings.get(name)
        if value is None:
            continue
        if not isinstance(value, dict):
            raise fields.error(name, "an object or null", value)
        inner = Fields(value, f"{fields.where}: {name}", _ADVICE)
        inner.one_of("rope_type", inner.settings.get("type", "default"), ("default",))
        inner.one_of("partial_rotary_factor", 1.0, (1.0,))
        if "rope_theta" in value:
            return inner.positive("rope_theta", 10000.0)
    return fields.positive("rope_theta", 10000.0)


def _token(fields: Fields, name: str, default: int) -> int:
    """One id. A null is refused, not replaced by the default: a plain Llama has this id."""
    found = fields.settings.get(name, default)
    if type(found) is not int or found < 0:
        raise fields.error(name, "a token id", found)
    return found


def _eos(fields: Fields) -> int | tuple[int, ...]:
    value = fields.settings.get("eos_token_id", 2)
    if value is None:
        return ()
    if not isinstance(value, list):
        return _token(fields, "eos_token_id", 2)
    if not all(type(token) is int and token >= 0 for token in value):
        raise fields.error("eos_token_id", "an id or a list of ids", value)
    return tuple(value)
