"""What the first version computed, which is computed and named the same way ever after.

It knew plain Llamas that read a start token before every text. Texts that were written with one are
read again only by the same bits, so these networks keep the order in which it added; and agreements
name them by its digest.
"""

from __future__ import annotations

from collections.abc import Mapping

from ticore.backend_kit.checkpoint import StartToken
from ticore.backend_kit.network_config import NetworkConfig


def is_of_version_1(
    config: NetworkConfig, start: StartToken, settings: Mapping[str, object]
) -> bool:
    """Whether the first version computed this network.

    Args:
        config: of the network.
        start: what it reads before a text.
        settings: its config.json. A model that was made for a later version says so in
            `ticore_version`, and is computed faster.
    """
    return (
        "ticore_version" not in settings
        and config.architecture == "llama"
        and config.rope is not None
        and config.rope.kind == "default"
        and not (config.qkv_bias or config.mlp_bias)
        and config.heads * config.head_dim == config.width
        and config.bos_token is not None
        and start == StartToken(config.bos_token, always=True)
    )


def config_facts(config: NetworkConfig, settings: Mapping[str, object]) -> dict[str, object]:
    """What its digest says of a config.

    Args:
        config: of a network that the first version computed.
        settings: the config.json, where one id that ends texts and a list of one differ.
    """
    assert config.rope is not None
    eos = settings.get("eos_token_id", 2)
    return {
        "vocab_size": config.vocab_size,
        "hidden_size": config.width,
        "intermediate_size": config.inner,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "num_key_value_heads": config.kv_heads,
        "max_position_embeddings": config.context,
        "rms_norm_eps": config.norm_eps,
        "rope_theta": config.rope.theta,
        "tie_word_embeddings": config.tied,
        "bos_token_id": config.bos_token,
        "eos_token_id": [] if eos is None else eos,
    }
