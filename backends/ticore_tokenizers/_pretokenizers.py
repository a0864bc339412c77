"""The pretokenizer of a byte-level tokenizer.json as the steps of a TokenizerStructure."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import regex
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import PreTokenizer, Punctuation

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
_WITHOUT_SPACES = Split(r"\s", "removed")
# After ByteLevel there is no white space, and so these drop nothing.
_DROPPING = {
    "WhitespaceSplit": _WITHOUT_SPACES,
    "Whitespace": Split(r"\w+|[^\w\s]+", "removed", inverted=True, dialect="rust"),
}
_LOSSY = frozenset({*_DROPPING, "BertPreTokenizer", "CharDelimiterSplit"})
_CODE_POINTS = (*range(0xD800), *range(0xE000, 0x110000))
_WHOLE = r"[\s\S]+"  # splits nothing


class ByteLevelSteps(NamedTuple):
    """A pretokenizer in which ByteLevel writes the bytes of a text as letters.

    Attributes:
        steps: as a TokenizerStructure has them.
        adds_leading_space: whether ByteLevel puts a space before a text that has none.
    """

    steps: tuple[str | Split, ...]
    adds_leading_space: bool


def read_steps(pretokenizer: TokenizerJson | None) -> ByteLevelSteps:
    """What a pretokenizer does.

    Raises:
        NoStructure: it has none, or a step that is not known here.
    """
    steps = list(_flat(pretokenizer))
    kinds = [step["type"] for step in steps]
    if kinds.count("ByteLevel") != 1:
        times = "more than once" if "ByteLevel" in kinds else "nowhere, though its decoder does"
        raise NoStructure(f"its pretokenizer has ByteLevel {times}")
    at = kinds.index("ByteLevel")
    before = [found for step in steps[:at] for found in _steps(step, _LOSSY)]
    if steps[at]["add_prefix_space"] and before:
        raise NoStructure("its pretokenizer ByteLevel puts a space before each part of a text")
    if steps[at]["use_regex"]:
        before.append(GPT2_PATTERN)
    after = [found for step in steps[at + 1 :] for found in _steps(step, {"CharDelimiterSplit"})]
    found = (*before, *(_of_bytes(step) for step in after)) or (_WHOLE,)
    return ByteLevelSteps(found, steps[at]["add_prefix_space"])


def without_leading_space(pretokenizer: PreTokenizer) -> PreTokenizer:
    """The same pretokenizer, but its ByteLevel puts no space before a text."""
    steps = [
        {**step, "add_prefix_space": False} if step["type"] == "ByteLevel" else step
        for step in _flat(json.loads(pretokenizer.__getstate__()))
    ]
    empty = json.loads(Tokenizer(BPE()).to_str())
    empty["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}
    changed: PreTokenizer = Tokenizer.from_str(json.dumps(empty)).pre_tokenizer
    return changed


def _flat(pretokenizer: TokenizerJson | None) -> list[TokenizerJson]:
    match pretokenizer:
        case None:
            return []
        case {"type": "Sequence", "pretokenizers": [*steps]}:
            return [found for step in steps for found in _flat(step)]
    return [pretokenizer]


def _of_bytes(step: str | Split) -> Split:
    return replace(Split(step) if isinstance(step, str) else step, reads="bytes")


def _steps(step: TokenizerJson, lossy: Collection[str]) -> list[str | Split]:
    """The splits that a step makes; refuses those that are `lossy`."""
    match step:
        case {"type": str(kind)} if kind in lossy:
            raise NoStructure(f"its pretokenizer {kind} drops spaces, which are lost")
        case {"type": "Digits", "individual_digits": one_by_one}:
            return [r"\p{N}" if one_by_one else r"\p{N}+"]
        case {"type": "Punctuation", "behavior": behavior}:
            return [_split(_punctuation(), behavior, inverted=False)]
        case {"type": "Split", "behavior": behavior, "invert": inverted, "pattern": pattern}:
            string = pattern.get("String")
            expression = str(pattern["Regex"]) if string is None else re.escape(string)
            return [_split(expression, behavior, inverted=inverted)]
        case {"type": "FixedLength", "length": int(length)}:
            return [rf"[\s\S]{{1,{length}}}"]
        case {"type": "BertPreTokenizer"}:
            return [_WITHOUT_SPACES, _punctuation()]
        case {"type": str(kind)} if kind in _DROPPING:
            return [_DROPPING[kind]]
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
