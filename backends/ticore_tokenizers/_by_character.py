"""Character maps of SentencePiece in a tokenizer.json that work character by character.

The library replaces some texts of several characters and not others. That depends on the cluster of
characters around them: "e" and U+0301 become one character, but not if two more marks follow. Where
the tokens of a model can spell no such text, this does not matter.

Other steps of the same normalizer must not undo what the map does. So each replacement must either
leave the form KD as it is, or make the *weight* of a text smaller, which no step makes larger. Its
parts, the first one counting most: how many characters occur in replaced texts, how many are cased,
and how many are no spaces; all in the form KD.
"""

from __future__ import annotations

import unicodedata
from base64 import b64decode
from collections.abc import Mapping, Set

from ticore.backend_kit import CharacterMap, NoStructure

from ._normalizers import TokenizerJson


def require_by_character(
    step: TokenizerJson, others: Set[str], replacements: Mapping[str, str], alphabet: Set[str]
) -> None:
    """Refuse a step Precompiled that may change several characters together.

    Args:
        step: of a normalizer.
        others: the names of its other steps, as in TokenizerStructure.
        replacements: theirs.
        alphabet: the characters that the tokens of the model can spell.

    Raises:
        NoStructure: for such a step, and for one that other steps may undo.
    """
    character_map = CharacterMap(b64decode(step["precompiled_charsmap"]))
    spelled = _with_results(character_map, alphabet, replacements) if others else alphabet
    replaced = dict(character_map.replaced(spelled, spelled))
    together = [text for text in replaced if len(text) > 1]
    # Nor may what one character becomes stand for another one, so that all together is as before.
    dropped = {text for text, result in replaced.items() if not result}
    together += [
        text for text, result in replaced.items() if result and result[0] in {text, *dropped}
    ]
    if together:
        raise NoStructure(
            f"its normalizer (Precompiled) changes some characters of its tokens together, unless "
            f"more marks follow: {min(together)!a}; the model that SentencePiece trained has "
            f"tables (sentencepiece:FILE)"
        )
    if others & {"nfc", "nfd", "nfkc"}:
        raise NoStructure(
            "its normalizer has a step Precompiled, and another one for a normal form but NFKD"
        )
    undone = [text for text, result in replaced.items() if _may_be_undone(text, result, others)]
    if others and (rewritten := _not_lighter(replaced, replacements) or undone):
        raise NoStructure(
            f"other steps of its normalizer may undo what Precompiled does to {min(rewritten)!r}"
        )


def _with_results(
    character_map: CharacterMap, alphabet: Set[str], replacements: Mapping[str, str]
) -> Set[str]:
    """The alphabet, and all that steps of any kind make of its characters."""
    found = {*alphabet, *"".join(replacements.values())}
    while True:
        results = (result for _, result in character_map.replaced(found, found))
        more = {*"".join(results)}.union(*map(_decomposed, found), *map(str.lower, found))
        if more <= found:
            return found
        found |= more


def _may_be_undone(text: str, result: str, others: Set[str]) -> bool:
    """Whether NFKD makes the text of what became of it."""
    return "nfkd" in others and _decomposed(text) == text == _decomposed(result)


def _not_lighter(replaced: Mapping[str, str], replacements: Mapping[str, str]) -> list[str]:
    """The characters that become neither lighter nor something of the same form KD."""
    counted = frozenset("".join(replacements))
    return [
        text
        for text, result in replaced.items()
        if _decomposed(text) != _decomposed(result)
        and _weight(result, counted) >= _weight(text, counted)
    ]


def _weight(text: str, counted: Set[str]) -> tuple[int, int, int]:
    plain = _decomposed(text)
    return (
        sum(character in counted for character in plain),
        sum(character.lower() != character for character in plain),
        sum(character != " " for character in plain),
    )


def _decomposed(text: str) -> str:
    return unicodedata.normalize("NFKD", text)
