"""Names of tensors that differ from export to export, which config.json does not say."""

from __future__ import annotations

from collections.abc import Container


def gpt2_root(names: Container[str]) -> str:
    """What `names`, those of the tensors of a GPT-2, begin with: `transformer.` or nothing.

    The first exports, OpenAI's own among them, were made without the head's wrapping.
    """
    return "transformer." if "transformer.wte.weight" in names else ""


def is_spare_tensor(name: str) -> bool:
    """Whether a network that does not ask for this tensor is complete without it.

    A tied head may be stored all the same; old exports keep frequencies and causal masks.
    """
    return name == "lm_head.weight" or name.endswith(
        ("rotary_emb.inv_freq", ".attn.bias", ".attn.masked_bias")
    )
