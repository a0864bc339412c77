"""The steps of a normalizer, in the words of TokenizerStructure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence, Set

from tokenizers import Tokenizer

from ticore.backend_kit import NoStructure

from ._by_character import read_character_map
from ._normalizers import Normalize, TokenizerJson

_NAMES = {
    "NFC": "nfc",
    "NFD": "nfd",
    "NFKC": "nfkc",
    "NFKD": "nfkd",
    "Lowercase": "lowercase",
    "StripAccents": "strip_accents",
    "Nmt": "by_character",  # drops some control characters, and makes spaces of others
}
_WHY_NOT = {
    "Strip": "which drops white space at the ends of a text",
    "Prepend": "which puts something before a text",
    "Precompiled": "which replaces clusters of characters; its tokens of bytes spell them all",
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


def read_normalizer(
    steps: Sequence[TokenizerJson],
    alphabet: Set[str] | None = None,
    *,
    drops_spaces: bool = False,
) -> tuple[str, dict[str, str]]:
    """The fields `normalizer` and `replacements` of a TokenizerStructure.

    Args:
        steps: of the normalizer.
        alphabet: the characters that the tokens can spell; None for all.
        drops_spaces: whether there are more steps, which `drops_white_space`.

    Raises:
        NoStructure: there is a step of another kind.
    """
    names, replacements, maps = list[str](), dict[str, str](), list[TokenizerJson]()
    for step in steps:
        if step["type"] == "Replace":
            old, new = _replaced(step)
            if replacements.setdefault(old, new) != new:
                raise NoStructure(f"its normalizer replaces {old!r} in two ways")
            if old != new:
                names.append("replace")
        elif step["type"] in _NAMES:
            names.append(_NAMES[step["type"]])
        elif step["type"] == "BertNormalizer":
            names += _bert_names(step, drops_spaces)
        elif step["type"] == "Precompiled" and alphabet is not None:
            maps.append(step)
        else:
            why = _WHY_NOT.get(step["type"], "which is not known here")
            raise NoStructure(f"its normalizer has a step {step['type']}, {why}")
    kept = {old: new for old, new in replacements.items() if old != new}
    if len(maps) > 1:
        raise NoStructure("its normalizer has several steps Precompiled")
    for step in maps:
        if clusters := read_character_map(step, {*names}, kept, alphabet or set()):
            return "clusters", clusters
        names.append("by_character")  # in which order makes no difference
    return "+".join(names) or "identity", kept


def drops_white_space(step: TokenizerJson) -> bool:
    """Whether a step drops white space at the ends of a text, or but one of several spaces."""
    match step:
        case {"type": "Strip"} | {
            "type": "Replace",
            "pattern": {"Regex": " {2,}"},
            "content": " " | "▁",
        }:
            return True
    return False


def _bert_names(step: TokenizerJson, drops_spaces: bool) -> list[str]:
    """The steps that BERT's normalizer takes one after the other."""
    if step["handle_chinese_chars"] and drops_spaces:
        raise NoStructure(
            "its normalizer has a step BertNormalizer, which puts spaces around ideographs, and "
            "other steps drop spaces"
        )
    accents = step["lowercase"] if step["strip_accents"] is None else step["strip_accents"]
    return [
        *["by_character"] * (step["clean_text"] or step["handle_chinese_chars"]),
        *["nfd", "strip_accents"] * accents,
        *["lowercase"] * step["lowercase"],
    ]


def normalize_with(steps: Sequence[TokenizerJson]) -> Normalize | None:
    """The library's function for some steps; None for no steps.

    It can be pickled, also where the only step is a Replace, which by itself cannot be.
    """
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
