"""Character maps of a model's own, trained from a file of rules (`normalization_rule_tsv`).

The library goes through a text from left to right. Where texts of the map begin, it replaces the
longest of them. So a text that holds none of them stays as it is. A text that holds one is changed,
if each rule makes the text poorer in some character that no rule makes it richer in. Else rules may
make up for each other: with "a" dropped and "b" replaced by "ab", the text "ab" stays as it is.
"""

from __future__ import annotations

from collections.abc import Set

from ticore.backend_kit import CharacterMap, NoStructure

_SMALL = 1 << 17
"""Bytes. A map that extends the normal form KC has 10 times as many, which take seconds to read."""


def read_character_map(content: bytes, alphabet: Set[str] | None) -> dict[str, str]:
    """The field `replacements` of a TokenizerStructure: of texts in one another, the inner ones.

    Args:
        content: the map, as a model file holds it.
        alphabet: the characters that the tokens of the model can spell; None for all.

    Raises:
        NoStructure: it may leave a text as it is that holds some of the texts, or is too large.
    """
    if alphabet is None and len(content) > _SMALL:
        raise NoStructure(
            f"its normalizer has a character map of its own of {len(content):,} bytes, all of "
            f"whose texts its tokens for bytes can spell; train it without byte_fallback, or by "
            f"one of the names of SentencePiece (normalization_rule_name)"
        )
    rules = dict(CharacterMap(content).replaced(alphabet, alphabet))
    kept = {text: result for text, result in rules.items() if text != result}
    gained = {c for text, result in kept.items() for c in result if _count(c, text, result) > 0}
    for text, result in rules.items():
        lost = {c for c in text if _count(c, text, result) < 0}
        if lost <= gained and (text in kept or len(text) > 1):
            raise NoStructure(
                f"its normalizer has a character map of its own, and other rules may undo that it "
                f"replaces {text!r} by {result!r}"
            )
    if spaced := [text for text in rules if " " in text]:
        raise NoStructure(f"its normalizer replaces a text with a space, {min(spaced)!r}")
    return {text: kept[text] for text in kept if not any(p in kept for p in _proper_parts(text))}


def _count(character: str, text: str, result: str) -> int:
    """How many more of a character there are in the result."""
    return result.count(character) - text.count(character)


def _proper_parts(text: str) -> Set[str]:
    """What stands in a text and is shorter."""
    size = len(text)
    return {text[i:j] for i in range(size) for j in range(i + 1, size + 1)} - {text}
