"""Which models stand in for those of the paper: one for each structure of tokenizers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import ticore
from ticore.errors import SettingsError
from ticore.interfaces import LanguageModel

LLAMA_2, SWALLOW, QWEN_2_5 = "llama-2", "swallow", "qwen2.5"
"""The paper's models."""


@dataclass(frozen=True)
class StandIn:
    """A model of ours in a role of the paper's.

    Attributes:
        place: what `ticore.load_model` opens.
        role: the paper's model: `llama-2`, `swallow` or `qwen2.5`.
        language: of the prompts: en, ja or zh.
        structure: of its tokenizer, in words.
        observation: tokens for which rollback observes an inconsistency (q).
        dtype: the number format that it computes in, such as `bfloat16`; None: its backend's.
    """

    place: str
    role: str
    language: str
    structure: str
    observation: int
    dtype: str | None = None

    def open(self, dtype: str | None = None) -> LanguageModel:
        """The model.

        Args:
            dtype: the number format that a part needs, whatever the setting.
        """
        chosen = dtype or self.dtype
        return ticore.load_model(self.place, **({} if chosen is None else {"dtype": chosen}))

    @property
    def name(self) -> str:
        """The place as a name of files."""
        return "".join(c if c.isalnum() or c in "-." else "_" for c in self.place)


_BYTE_FALLBACK = "SentencePiece BPE with byte fallback"
_BYTE_LEVEL = "byte-level BPE"

# The paper's own settings (their section 5): q follows from the investigation's table.
ROLES = {
    LLAMA_2: StandIn("", LLAMA_2, "en", _BYTE_FALLBACK, 2),
    SWALLOW: StandIn("", SWALLOW, "ja", _BYTE_FALLBACK, 10),
    QWEN_2_5: StandIn("", QWEN_2_5, "zh", _BYTE_LEVEL, 10),
}

STAND_INS = {
    each.place: each
    for each in (
        StandIn("tiny-en", LLAMA_2, "en", _BYTE_FALLBACK, 2),
        StandIn("tiny-ja", SWALLOW, "ja", _BYTE_FALLBACK, 10),
        StandIn("tiny-zh", QWEN_2_5, "zh", _BYTE_LEVEL, 10),
        StandIn("smollm2", QWEN_2_5, "en", _BYTE_LEVEL, 2),
        StandIn("gemma3-270m", LLAMA_2, "en", _BYTE_FALLBACK, 10),
    )
}
"""By place. Those that are bundled come first."""


def stand_in(place: str, role: str | None, dtype: str | None = None) -> StandIn:
    """The model at a place.

    Args:
        place: what `ticore.load_model` opens, such as `tiny-en` or `torch:smollm2`.
        role: the model of the paper that it stands for; None where `STAND_INS` knows it.
        dtype: see `StandIn`.

    Raises:
        SettingsError: there is no such role, or none is given and none is known.
    """
    if role is not None:
        if role not in ROLES:
            raise SettingsError(f"expected --as to be one of {', '.join(ROLES)}, found {role!r}")
        return replace(ROLES[role], place=place, dtype=dtype)
    known = STAND_INS.get(place.removeprefix("torch:").removeprefix("jax:"))
    if known is None:
        raise SettingsError(
            f"expected --as for the model {place}, found none; say which of the paper's models it "
            f"stands for: --as {'|'.join(ROLES)}"
        )
    return replace(known, place=place, dtype=dtype)
