"""Byte-level tokenizers: a text is normalized, split by regular expressions, and read as bytes."""

from __future__ import annotations

import re

from ._normalizers import Normalize, NormalizerRules, TokenizerJson
from ._spelling import byte_alphabet

# The expression of the ByteLevel pretokenizer, which it uses if `use_regex` is set.
GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

# These normalizers do not change spaces.
_NORMALIZERS = frozenset({"NFC", "NFD", "NFKC", "NFKD", "Lowercase"})
_ALPHABET = frozenset(byte_alphabet())


def read_byte_level(state: TokenizerJson, normalize: Normalize | None) -> NormalizerRules | None:
    """How a byte-level BPE tokenizer reads a text; None if it does anything else.

    Args:
        state: its tokenizer.json.
        normalize: the library's function for its normalizer.
    """
    name = _name(state["normalizer"])
    patterns = _patterns(state["pre_tokenizer"])
    if (
        name is None
        or patterns is None
        or state["decoder"]["type"] != "ByteLevel"
        or not _gives_every_byte(state)
    ):
        return None
    changes = None if name == "identity" else normalize
    return NormalizerRules("bytes", _ALPHABET.issuperset, name, changes, patterns)


def _gives_every_byte(state: TokenizerJson) -> bool:
    """Whether the model has a token for each byte; a byte without a token would be lost."""
    names: set[str] = set(state["model"]["vocab"])
    return names.difference(token["content"] for token in state["added_tokens"]) >= _ALPHABET


def _name(normalizer: TokenizerJson | None) -> str | None:
    """The name of a normalizer: `nfc`, or `nfc+lowercase` for a sequence of two."""
    match normalizer:
        case None:
            return "identity"
        case {"type": "Sequence", "normalizers": [_, *_] as steps}:
            names = [_name(step) for step in steps]
            return None if None in names else "+".join(map(str, names))
        case {"type": str(kind)} if kind in _NORMALIZERS:
            return kind.lower()
    return None


def _patterns(pretokenizer: TokenizerJson | None) -> tuple[str, ...] | None:
    """The expressions of each `Split`, then that of ByteLevel if it uses one."""
    match pretokenizer:
        case {"type": "Sequence", "pretokenizers": [*splits, last]}:
            patterns = [_pattern(split) for split in splits]
        case last:
            patterns = []
    match last:
        case {"type": "ByteLevel", "add_prefix_space": False, "use_regex": own}:
            known = [pattern for pattern in patterns if pattern is not None]
            return (*known, *[GPT2_PATTERN] * own) if known == patterns else None
    return None


def _pattern(split: TokenizerJson) -> str | None:
    match split:
        case {"type": "Split", "behavior": "Isolated", "invert": False, "pattern": pattern}:
            return str(pattern["Regex"]) if "Regex" in pattern else re.escape(pattern["String"])
    return None
