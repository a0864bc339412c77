"""Byte-level reading: a text is normalised, split by regular expressions, and read as its bytes."""

from __future__ import annotations

import re

from .reading import Normalize, Reading, State
from .spelling import byte_alphabet

# What the ByteLevel pre-tokenizer of the library splits by when it is told to use its regex.
GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

# These leave spaces as they are.
_NORMALIZERS = frozenset({"NFC", "NFD", "NFKC", "NFKD", "Lowercase"})
_ALPHABET = frozenset(byte_alphabet())


def read_byte_level(state: State, normalize: Normalize | None) -> Reading | None:
    """How a BPE tokenizer reads a text, or None if it is not byte-level and nothing else.

    Args:
        state: its tokenizer.json.
        normalize: what the library does for the normalizer there.
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
    return Reading("bytes", _ALPHABET.issuperset, name, changes, patterns)


def _gives_every_byte(state: State) -> bool:
    """Whether the model has a token for each byte: with one missing, it is unknown or lost."""
    names: set[str] = set(state["model"]["vocab"])
    return names.difference(token["content"] for token in state["added_tokens"]) >= _ALPHABET


def _name(normalizer: State | None) -> str | None:
    """`nfc`, or `nfc+lowercase` for one after the other."""
    match normalizer:
        case None:
            return "identity"
        case {"type": "Sequence", "normalizers": [_, *_] as steps}:
            names = [_name(step) for step in steps]
            return None if None in names else "+".join(map(str, names))
        case {"type": str(kind)} if kind in _NORMALIZERS:
            return kind.lower()
    return None


def _patterns(pretokenizer: State | None) -> tuple[str, ...] | None:
    """The expressions of `Split`s as they are written there, then ByteLevel's own if it has one."""
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


def _pattern(split: State) -> str | None:
    match split:
        case {"type": "Split", "behavior": "Isolated", "invert": False, "pattern": pattern}:
            return str(pattern["Regex"]) if "Regex" in pattern else re.escape(pattern["String"])
    return None
