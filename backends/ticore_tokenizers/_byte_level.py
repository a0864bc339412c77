"""Byte-level tokenizers: a text is normalized, split by regular expressions, and read as bytes."""

from __future__ import annotations

from functools import partial

from ticore.backend_kit import NoStructure, byte_alphabet

from ._normalizer_steps import flat, normalize_with, read_normalizer
from ._normalizers import Normalize, NormalizerRules, TokenizerJson
from ._pretokenizers import read_steps

_ALPHABET = frozenset(byte_alphabet())


def read_byte_level(state: TokenizerJson) -> NormalizerRules:
    """How a tokenizer with a ByteLevel decoder reads a text.

    Args:
        state: its tokenizer.json.

    Raises:
        NoStructure: it does anything else than the steps that are known here.
    """
    steps, adds_leading_space, dropped = read_steps(state["pre_tokenizer"])
    normalizer = flat(state["normalizer"])
    name, replacements = read_normalizer(normalizer, drops_spaces=" " in dropped)
    _require_readable(state)
    changes = None if name == "identity" else normalize_with(normalizer)
    if dropped:
        name = "by_character" if name == "identity" else f"{name}+by_character"
        changes = partial(_without, dropped, changes)
    return NormalizerRules(
        "bytes",
        _ALPHABET.issuperset,
        name,
        changes,
        steps,
        replacements=replacements,
        adds_leading_space=adds_leading_space,
    )


def _without(dropped: str, normalize: Normalize | None, text: str) -> str:
    """The normal text without some characters. A function of a module, so it can be pickled."""
    normal = text if normalize is None else normalize(text)
    return normal.translate(dict.fromkeys(map(ord, dropped)))


def _require_readable(state: TokenizerJson) -> None:
    """Refuse a model that fails at a byte without a token, or that spells it in other tokens.

    Else the library drops such a byte, or gives the unknown token for it.
    """
    model = state["model"]
    for token in state["added_tokens"]:
        if token["content"] in _ALPHABET:
            raise NoStructure(f"its added token {token['content']!r} is also the token of a byte")
    if model["vocab"].keys() >= _ALPHABET:
        return
    if model["byte_fallback"]:
        raise NoStructure("bytes without a token become tokens that are not decoded as these bytes")
    if model["unk_token"] is not None and model["unk_token"] not in model["vocab"]:
        raise NoStructure("some of the 256 bytes have no token, and its unk_token is no token")
