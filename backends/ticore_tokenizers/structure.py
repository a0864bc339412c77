"""A tokenizer.json in the core's terms, where it is byte-level BPE and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ticore.interfaces import TokenizerStructure

from .spelling import byte_alphabet, spelling

# What the ByteLevel pre-tokenizer of the library splits by when it is told to use its regex.
GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def describe(state: Mapping[str, Any]) -> TokenizerStructure | None:
    """The structure of the tokenizer whose tokenizer.json is `state`, or None.

    Args:
        state: as the library writes it, with a decoder that `spelling` accepts.
    """
    normalizer = _normalizer(state["normalizer"])
    pattern = _pattern(state["pre_tokenizer"])
    added = state["added_tokens"]
    if (
        normalizer is None
        or pattern is None
        or state["decoder"]["type"] != "ByteLevel"
        or not _is_plain_bpe(state["model"])
        or not _are_plain(added, normalizer)
    ):
        return None
    return TokenizerStructure(
        kind="bpe",
        normalizer=normalizer,
        pretokenizer=pattern,
        added_tokens=tuple(token["content"] for token in added),
    )


def _normalizer(normalizer: Mapping[str, Any] | None) -> str | None:
    match normalizer:
        case None:
            return "identity"
        case {"type": "NFC"}:
            return "nfc"
    return None


def _pattern(pretokenizer: Mapping[str, Any] | None) -> str | None:
    match pretokenizer:
        case {"type": "ByteLevel", "use_regex": True, "add_prefix_space": False}:
            return GPT2_PATTERN
        case {
            "type": "Sequence",
            "pretokenizers": [
                {
                    "type": "Split",
                    "pattern": {"Regex": str(pattern)},
                    "behavior": "Isolated",
                    "invert": False,
                },
                {"type": "ByteLevel", "use_regex": False, "add_prefix_space": False},
            ],
        }:
            return pattern
    return None


def _is_plain_bpe(model: Mapping[str, Any]) -> bool:
    return (
        model["type"] == "BPE"
        and not model["ignore_merges"]
        and not model["continuing_subword_prefix"]
        and not model["end_of_word_suffix"]
        # With a byte missing, text that holds it would be unknown or lost.
        and byte_alphabet().keys() <= model["vocab"].keys()
    )


def _are_plain(added: list[Mapping[str, Any]], normalizer: str) -> bool:
    """Whether added tokens are found in one pass over the text as it is, and spelled as found."""
    spell = spelling({"type": "ByteLevel"})
    return (
        # The library looks for tokens that are not `normalized` first, then for the others.
        len({token["normalized"] for token in added}) <= 1
        and not any(token["normalized"] and normalizer != "identity" for token in added)
        and not any(token["lstrip"] or token["rstrip"] or token["single_word"] for token in added)
        and all(
            token["special"] or spell(token["content"]) == token["content"].encode()
            for token in added
        )
    )
