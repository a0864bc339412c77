"""Character maps of SentencePiece in a tokenizer.json: what they change in texts of some tokens.

Most texts that the library replaces are single characters; `_clusters` is about the others.

Other steps of the same normalizer must not undo what the map does. So each replacement must either
leave the form KD as it is, or make the *weight* of a text smaller, which no step makes larger. Its
parts, the first one counting most: how many characters occur in replaced texts, how many are cased,
and how many are no spaces; all in the form KD.
"""

from __future__ import annotations

import unicodedata
from base64 import b64decode
from collections.abc import Mapping, Set

from tokenizers import normalizers

from ticore.backend_kit import CharacterMap, NoStructure

from ._clusters import clusters_replaced
from ._normalizers import TokenizerJson

_MARK = "\N{LOWER ONE EIGHTH BLOCK}"  # may be put before a text


def read_character_map(
    step: TokenizerJson, others: Set[str], replacements: Mapping[str, str], alphabet: Set[str]
) -> dict[str, str]:
    """What a step Precompiled changes besides single characters; see `clusters_replaced`.

    Args:
        step: of a normalizer.
        others: the names of its other steps, as in TokenizerStructure.
        replacements: theirs.
        alphabet: the characters that the tokens of the model can spell.

    Raises:
        NoStructure: what it changes depends on more than that, or other steps may undo it.
    """
    content = b64decode(step["precompiled_charsmap"])
    character_map = CharacterMap(content)
    spelled = _with_results(character_map, alphabet, replacements) if others else alphabet
    spelled = spelled | {_MARK}
    replaced = dict(character_map.replaced(spelled, spelled))
    clusters = clusters_replaced(
        replaced, others, normalizers.Precompiled(content).normalize_str, alphabet
    )
    # Nor may what becomes of a text begin as the text does, or as one that is dropped: then all
    # together might be as before.
    dropped = {text for text, result in replaced.items() if not result}
    alike = [
        text
        for text, result in replaced.items()
        if (len(text) == 1 or text in clusters) and result and result[0] in {text[0], *dropped}
    ]
    if alike:
        raise NoStructure(f"its normalizer (Precompiled) may bring back {min(alike)!a}")
    if others & {"nfc", "nfd", "nfkc"}:
        raise NoStructure(
            "its normalizer has a step Precompiled, and another one for a normal form but NFKD"
        )
    undone = [text for text, result in replaced.items() if _may_be_undone(text, result, others)]
    if others and (rewritten := _not_lighter(replaced, replacements) or undone):
        raise NoStructure(
            f"other steps of its normalizer may undo what Precompiled does to {min(rewritten)!r}"
        )
    return clusters


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
