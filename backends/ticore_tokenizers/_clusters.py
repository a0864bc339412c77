"""Clusters that the step Precompiled changes: those that `ticore` can decide about.

A cluster is a letter with its marks, or what else a reader sees as one character. Where it is short
and begins with a text of the character map, the library replaces all of it: "e" and U+0301 become
one character, but not if two more marks follow. `ticore` decides this if no such cluster depends on
what stands before it, except for one character that may begin the cluster in its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from ticore.backend_kit import NoStructure

from ._normalizers import Normalize

_LONGEST = 5  # bytes
_JOINER = "\N{ZERO WIDTH JOINER}"
# What joins a character that may belong to the cluster before it, of each kind: a mark, syllables
# of Hangul, letters of a flag, pictographs, consonants of an Indic script.
_BEFORE = ("\U00010000", "\u1100", "\uac00", "\U0001f1e6", f"\u00a9{_JOINER}", "\u0915\u094d")


def clusters_replaced(
    replaced: Mapping[str, str], others: Set[str], read: Normalize, alphabet: Set[str]
) -> dict[str, str]:
    """The shortest texts of several characters that a cluster must begin with to be replaced.

    Args:
        replaced: the texts of the character map, and what becomes of them.
        others: the names of the other steps of the normalizer.
        read: what the step makes of a text.
        alphabet: the characters of all texts.

    Returns:
        The texts, and what becomes of them.

    Raises:
        NoStructure: one of them depends on more, or other steps may undo what becomes of it.
    """
    found = {
        text: result
        for text, result in replaced.items()
        if len(text) > 1
        and len(text.encode()) <= _LONGEST
        and not any(text[:n] in replaced for n in range(1, len(text)))
        and read(text) != text
    }
    before = [some for some in _BEFORE if _JOINER not in some or _JOINER in alphabet]
    for text, result in found.items():
        if others:
            why = "and there are other steps"
        elif not result:
            why = "and drops them"
        elif any(read(some + text) != read(some) + result for some in (*before, text[0])):
            why = "which what stands before them may prevent"
        else:
            continue
        raise NoStructure(
            f"its normalizer (Precompiled) changes some characters of its tokens together, "
            f"{text!a}, {why}; the model that SentencePiece trained has tables (sentencepiece:FILE)"
        )
    return found
