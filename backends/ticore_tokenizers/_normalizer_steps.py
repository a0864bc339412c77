"""The steps of a normalizer, in the words of TokenizerStructure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from tokenizers import Tokenizer

from ticore.backend_kit import NoStructure

from ._normalizers import Normalize, TokenizerJson

_NAMES = {
    "NFC": "nfc",
    "NFD": "nfd",
    "NFKC": "nfkc",
    "NFKD": "nfkd",
    "Lowercase": "lowercase",
    "StripAccents": "strip_accents",
}
_WHY_NOT = {
    "Strip": "which drops white space at the ends of a text",
    "Prepend": "which puts something before a text",
    "Precompiled": "which replaces clusters of characters, of any length",
    "BertNormalizer": "which puts spaces around ideographs and drops characters",
    "Nmt": "which drops control characters",
    "ByteLevel": "which writes bytes as letters before the text is split",
}
# An expression for two or more of one character, or one or more of them.
_RUN = re.compile(r"(?P<letter>[^\\^$.|?*+()\[\]{}]|\\[^\w\s])(?P<count>\{2,\}|\+)")
_PLAIN = re.compile(r"(?:[^\\^$.|?*+()\[\]{}]|\\[^\w\s])+")


def flat(normalizer: TokenizerJson | None) -> list[TokenizerJson]:
    """The steps of a normalizer, and of the sequences in it, in order."""
    return [] if normalizer is None else list(_flat(normalizer))


def _flat(normalizer: TokenizerJson) -> Iterator[TokenizerJson]:
    if normalizer["type"] != "Sequence":
        yield normalizer
    else:
        for step in normalizer["normalizers"]:
            yield from _flat(step)


def read_normalizer(steps: Sequence[TokenizerJson]) -> tuple[str, dict[str, str]]:
    """The fields `normalizer` and `replacements` of a TokenizerStructure.

    Raises:
        NoStructure: there is a step of another kind.
    """
    names, replacements = list[str](), dict[str, str]()
    for step in steps:
        if step["type"] == "Replace":
            old, new = _replaced(step)
            if replacements.setdefault(old, new) != new:
                raise NoStructure(f"its normalizer replaces {old!r} in two ways")
            if old != new:
                names.append("replace")
        elif step["type"] in _NAMES:
            names.append(_NAMES[step["type"]])
        else:
            why = _WHY_NOT.get(step["type"], "which is not known here")
            raise NoStructure(f"its normalizer has a step {step['type']}, {why}")
    kept = {old: new for old, new in replacements.items() if old != new}
    return "+".join(names) or "identity", kept


def normalize_with(steps: Sequence[TokenizerJson]) -> Normalize | None:
    """The library's function for some steps; None for no steps."""
    if not steps:
        return None
    library = Tokenizer.from_str(
        json.dumps(
            {
                "version": "1.0",
                "truncation": None,
                "padding": None,
                "added_tokens": [],
                "normalizer": {"type": "Sequence", "normalizers": list(steps)},
                "pre_tokenizer": None,
                "post_processor": None,
                "decoder": None,
                "model": {"type": "BPE", "vocab": {}, "merges": []},
            }
        )
    ).normalizer
    normalize: Normalize = library.normalize_str
    return normalize


def _replaced(step: TokenizerJson) -> tuple[str, str]:
    """A text such that the step changes a text iff it holds this one; and what is put for it.

    An expression for a run changes nothing if a run of the shortest length is replaced by itself.
    """
    pattern, new = step["pattern"], step["content"]
    if "String" in pattern:
        return pattern["String"], new
    expression = pattern["Regex"]
    if _PLAIN.fullmatch(expression):
        return re.sub(r"\\(.)", r"\1", expression), new
    if found := _RUN.fullmatch(expression):
        letter = found["letter"][-1]
        return letter * (2 if found["count"] != "+" or new == letter else 1), new
    raise NoStructure(f"its normalizer replaces what the expression {expression!r} finds")
