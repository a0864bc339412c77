"""The pretokenizer of a byte-level tokenizer.json as the steps of a TokenizerStructure."""

from __future__ import annotations

import re
from functools import cache

import regex
from tokenizers.pre_tokenizers import Punctuation

from ticore.backend_kit import NoStructure
from ticore.interfaces import Split, SplitBehavior

from ._normalizers import TokenizerJson

# The expression of the ByteLevel pretokenizer, which it uses if `use_regex` is set.
GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

_BEHAVIORS: dict[str, SplitBehavior] = {
    "Isolated": "isolated",
    "Removed": "removed",
    "MergedWithPrevious": "merged_with_previous",
    "MergedWithNext": "merged_with_next",
    "Contiguous": "contiguous",
}
_CODE_POINTS = (*range(0xD800), *range(0xE000, 0x110000))
_DROPS_SPACES = frozenset({"Whitespace", "WhitespaceSplit", "BertPreTokenizer"})


def read_steps(pretokenizer: TokenizerJson | None) -> tuple[str | Split, ...]:
    """The steps of a pretokenizer that ends in ByteLevel.

    Raises:
        NoStructure: it has none, or a step that is not known here.
    """
    steps = list(_flat(pretokenizer))
    if not steps or steps[-1]["type"] != "ByteLevel":
        if any(step["type"] == "ByteLevel" for step in steps):
            raise NoStructure("its pretokenizer splits the bytes of ByteLevel once more")
        raise NoStructure("its pretokenizer does not end in ByteLevel, though its decoder does")
    return tuple(found for step in steps for found in _steps(step))


def _flat(pretokenizer: TokenizerJson | None) -> list[TokenizerJson]:
    match pretokenizer:
        case None:
            return []
        case {"type": "Sequence", "pretokenizers": [*steps]}:
            return [found for step in steps for found in _flat(step)]
    return [pretokenizer]


def _steps(step: TokenizerJson) -> list[str | Split]:
    match step:
        case {"type": "ByteLevel", "add_prefix_space": True}:
            raise NoStructure("its pretokenizer ByteLevel puts a space before texts")
        case {"type": "ByteLevel", "use_regex": True}:
            return [GPT2_PATTERN]
        case {"type": "ByteLevel"}:
            return []
        case {"type": "Digits", "individual_digits": one_by_one}:
            return [r"\p{N}" if one_by_one else r"\p{N}+"]
        case {"type": "Punctuation", "behavior": behavior}:
            return [_split(_punctuation(), behavior, inverted=False)]
        case {"type": "Split", "behavior": behavior, "invert": inverted, "pattern": pattern}:
            string = pattern.get("String")
            expression = str(pattern["Regex"]) if string is None else re.escape(string)
            return [_split(expression, behavior, inverted=inverted)]
        case {"type": str(kind)} if kind in _DROPS_SPACES:
            raise NoStructure(f"its pretokenizer {kind} drops spaces, which are lost")
    raise NoStructure(f"its pretokenizer {step['type']} is not known here")


@cache
def _punctuation() -> str:
    """The set of characters that the pretokenizer Punctuation splits at.

    The library is asked about each sign, since it follows an old version of Unicode.
    """
    characters = regex.findall(r"[\p{P}\p{S}]", "".join(map(chr, _CODE_POINTS)))
    library = Punctuation("removed")
    kept = library.pre_tokenize_str("x" + "x".join(characters) + "x")
    ends = [end for _, (_, end) in kept[:-1]]  # a sign stands after each part but the last
    signs = [characters[(end - 1) // 2] for end in ends]
    return "[" + "".join(f"\\x{{{ord(sign):x}}}" for sign in signs) + "]"


def _split(expression: str, behavior: str, *, inverted: bool) -> str | Split:
    if behavior == "Isolated":
        return expression  # inverted or not
    return Split(expression, _BEHAVIORS[behavior], inverted)
