"""The messages that are written, and the ways to seal and end them."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {"hello": "hello", "a sentence": "meet me at the station at nine"},
    "ja": {"hello": "こんにちは", "a sentence": "九時に駅で会いましょう"},
    "zh": {"hello": "你好", "a sentence": "九点在车站见面"},
}
"""Messages in words, by language and kind."""

RANDOM = "16 random bytes"
KINDS = (*WORDS["en"], RANDOM)

SHORT: Mapping[str, Any] = {"pad": "none", "finish": "sentence"}
WAYS: Mapping[str, Mapping[str, Any]] = {
    "standard": {},
    "standard, short": SHORT,
    "compact": {"security": "compact"},
    "compact, short": {"security": "compact", **SHORT},
    "compact, shortest of 16": {"security": "compact", **SHORT, "shortest_of": 16},
}
"""Settings of a Steganographer, by name. What is short is not padded, and ends at once."""


def message_of(kind: str, language: str, draw: Random) -> bytes:
    """A message of a kind; random ones differ each time."""
    return draw.randbytes(16) if kind == RANDOM else WORDS[language][kind].encode()
