"""The pretokenizer of a byte-level tokenizer.json as the steps of a TokenizerStructure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import regex
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import Digits, PreTokenizer, Punctuation

from ticore.backend_kit import NoStructure
from ticore.interfaces import Split, SplitBehavior

from ._characters import all_characters
from ._normalizers import TokenizerJson
from ._scripts import split_at_scripts

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
# What is left of them where texts hold no white space.
_WITHOUT_DROPS: dict[str, list[str | Split]] = {
    "WhitespaceSplit": [],
    "Whitespace": [Split(r"\w+|[^\w\s]+", dialect="rust")],
    "CharDelimiterSplit": [],
}
_WHITE_SPACE = "".join(regex.findall(r"\s", "".join(map(chr, range(0x3001)))))
_NEUTRAL = "|"  # what the core puts around the texts that it normalizes
_WHOLE = r"[\s\S]+"  # splits nothing


class ByteLevelSteps(NamedTuple):
    """A pretokenizer in which ByteLevel writes the bytes of a text as letters.

    Attributes:
        steps: as a TokenizerStructure has them.
        adds_leading_space: whether ByteLevel puts a space before a text that has none.
        dropped: the characters that are dropped wherever they stand.
    """

    steps: tuple[str | Split, ...]
    adds_leading_space: bool
    dropped: str = ""


def read_steps(pretokenizer: TokenizerJson | None) -> ByteLevelSteps:
    """What a pretokenizer does.

    Raises:
        NoStructure: it has none, or a step that is not known here.
    """
    steps = list(flat_steps(pretokenizer))
    kinds = [step["type"] for step in steps]
    if kinds.count("ByteLevel") != 1:
        times = "more than once" if "ByteLevel" in kinds else "nowhere, though its decoder does"
        raise NoStructure(f"its pretokenizer has ByteLevel {times}")
    at = kinds.index("ByteLevel")
    dropped = "".join(map(_dropped, steps[:at]))
    before = list[str | Split]()
    for step in steps[:at]:
        before += _steps_before(step)
    if steps[at]["add_prefix_space"] and (before or dropped):
        raise NoStructure(
            "its pretokenizer ByteLevel puts a space before each part of a text; set its "
            "add_prefix_space to false"
        )
    if steps[at]["use_regex"]:
        before.append(GPT2_PATTERN)
    after = [found for step in steps[at + 1 :] for found in _steps(step)]
    found = (*before, *(_of_bytes(step) for step in after)) or (_WHOLE,)
    return ByteLevelSteps(found, steps[at]["add_prefix_space"], dropped)


def without_leading_space(pretokenizer: PreTokenizer) -> PreTokenizer:
    """The same pretokenizer, but its ByteLevel puts no space before a text."""
    steps = [
        {**step, "add_prefix_space": False} if step["type"] == "ByteLevel" else step
        for step in flat_steps(json.loads(pretokenizer.__getstate__()))
    ]
    empty = json.loads(Tokenizer(BPE()).to_str())
    empty["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}
    changed: PreTokenizer = Tokenizer.from_str(json.dumps(empty)).pre_tokenizer
    return changed


def flat_steps(pretokenizer: TokenizerJson | None) -> list[TokenizerJson]:
    """The steps of a pretokenizer, and of the sequences in it, in order."""
    match pretokenizer:
        case None:
            return []
        case {"type": "Sequence", "pretokenizers": [*steps]}:
            return [found for step in steps for found in flat_steps(step)]
    return [pretokenizer]


def _of_bytes(step: str | Split) -> Split:
    return replace(Split(step) if isinstance(step, str) else step, reads="bytes")


def read_splits(steps: Sequence[TokenizerJson], *, marked: bool) -> tuple[Split, ...]:
    """The splits that steps beside Metaspace make.

    Args:
        steps: of a pretokenizer.
        marked: whether they come after Metaspace, and so see each space as U+2581.

    Raises:
        NoStructure: one of them is not known here, or drops text.
    """
    found = list[str | Split]()
    for step in steps:
        match step:
            case {"type": "Digits", "individual_digits": one_by_one}:
                found.append(_digits() if one_by_one else _digits() + "+")
            case {"type": str(kind)} if kind in _DROPPING or kind == "BertPreTokenizer":
                raise NoStructure(f"its pretokenizer {kind} drops white space beside Metaspace")
            case _:
                found += _steps(step)
    splits = [Split(step) if isinstance(step, str) else step for step in found]
    return tuple(replace(step, reads="marks") if marked else step for step in splits)


def _dropped(step: TokenizerJson) -> str:
    """The characters that a step drops wherever they stand."""
    match step:
        case {"type": "WhitespaceSplit" | "Whitespace" | "BertPreTokenizer"}:
            return _WHITE_SPACE
        case {"type": "CharDelimiterSplit", "delimiter": str(delimiter)}:
            if delimiter == _NEUTRAL:
                raise NoStructure(f"its pretokenizer CharDelimiterSplit drops {delimiter!r}")
            return delimiter
    return ""


def _steps_before(step: TokenizerJson) -> list[str | Split]:
    """The splits that a step before ByteLevel makes in texts without what it drops.

    No list for another text comes back. So nothing is lost by a reader that drops the characters
    before it splits; see `ByteLevelSteps.dropped`.
    """
    match step:
        case {"type": str(kind)} if kind in _WITHOUT_DROPS:
            return _WITHOUT_DROPS[kind]
        case {"type": "BertPreTokenizer"}:
            return [_punctuation()]
    return _steps(step)


def _steps(step: TokenizerJson) -> list[str | Split]:
    """The splits that a step makes."""
    match step:
        case {"type": "CharDelimiterSplit"}:
            raise NoStructure("its pretokenizer CharDelimiterSplit drops bytes of characters")
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
        case {"type": str(kind)} if kind in _WITHOUT_SETTINGS:
            return _WITHOUT_SETTINGS[kind]()
    raise NoStructure(f"its pretokenizer {step['type']} is not known here")


@cache
def _punctuation() -> str:
    """The set of characters that the pretokenizer Punctuation splits at.

    The library is asked about each sign, since it follows an old version of Unicode.
    """
    characters = regex.findall(r"[\p{P}\p{S}]", "".join(all_characters()))
    return _set_apart(characters, Punctuation("isolated"))


@cache
def _digits() -> str:
    """The set of characters that the pretokenizer Digits splits at, in the same way."""
    characters = [c for c in all_characters() if c.isnumeric() or not c.isalpha()]
    return _set_apart(characters, Digits(individual_digits=False))


def _set_apart(characters: Sequence[str], library: PreTokenizer) -> str:
    """The set of those characters that the library splits from a letter before and after."""
    parts = library.pre_tokenize_str("x" + "x".join(characters) + "x")
    starts = [start for _, (start, _) in parts if start % 2]  # letters stand at even places
    found = [characters[start // 2] for start in starts]
    return "[" + "".join(f"\\x{{{ord(character):x}}}" for character in found) + "]"


def _split(expression: str, behavior: str, *, inverted: bool) -> str | Split:
    if behavior == "Isolated":
        return expression  # inverted or not
    return Split(expression, _BEHAVIORS[behavior], inverted)


_WITHOUT_SETTINGS: dict[str, Callable[[], list[str | Split]]] = {
    "UnicodeScripts": lambda: [split_at_scripts()],
    "BertPreTokenizer": lambda: [_WITHOUT_SPACES, _punctuation()],
    "WhitespaceSplit": lambda: [_DROPPING["WhitespaceSplit"]],
    "Whitespace": lambda: [_DROPPING["Whitespace"]],
}
"""The splits that a step without settings makes, by its type."""
