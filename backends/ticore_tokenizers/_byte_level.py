"""Byte-level tokenizers: a text is normalized, split by regular expressions, and read as bytes."""

from __future__ import annotations

from ticore.backend_kit import NoStructure

from ._normalizers import Normalize, NormalizerRules, TokenizerJson
from ._pretokenizers import read_steps
from ._spelling import byte_alphabet

# These normalizers do not change spaces.
_NORMALIZERS = frozenset({"NFC", "NFD", "NFKC", "NFKD", "Lowercase"})
_ALPHABET = frozenset(byte_alphabet())


def read_byte_level(state: TokenizerJson, normalize: Normalize | None) -> NormalizerRules:
    """How a tokenizer with a ByteLevel decoder reads a text.

    Args:
        state: its tokenizer.json.
        normalize: the library's function for its normalizer.

    Raises:
        NoStructure: it does anything else than the steps that are known here.
    """
    name = _name(state["normalizer"])
    steps = read_steps(state["pre_tokenizer"])
    if not _gives_every_byte(state):
        raise NoStructure("some of the 256 bytes have no token, so text with them is lost")
    changes = None if name == "identity" else normalize
    return NormalizerRules("bytes", _ALPHABET.issuperset, name, changes, steps)


def _gives_every_byte(state: TokenizerJson) -> bool:
    """Whether the model has a token for each byte; a byte without a token would be lost."""
    names: set[str] = set(state["model"]["vocab"])
    return names.difference(token["content"] for token in state["added_tokens"]) >= _ALPHABET


def _name(normalizer: TokenizerJson | None) -> str:
    """The name of a normalizer: `nfc`, or `nfc+lowercase` for a sequence of two."""
    match normalizer:
        case None | {"type": "Sequence", "normalizers": []}:
            return "identity"
        case {"type": "Sequence", "normalizers": [*steps]}:
            return "+".join(map(_name, steps))
        case {"type": str(kind)} if kind in _NORMALIZERS:
            return kind.lower()
    raise NoStructure(f"its normalizer is {normalizer['type']}, which is not known here")
