"""Random steps of a tokenizer.json: normalizers, pretokenizers, added tokens, in any sequence."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from tests.support.random_bpe import PATTERNS

Json = Mapping[str, Any]

MARK = "▁"


def rarely(draw: st.DrawFn, one_in: int) -> bool:
    """True in one of `one_in` draws."""
    return draw(st.integers(1, one_in)) == one_in


def replace(old: str, new: str) -> Json:
    """The step that replaces a string, of normalizers and decoders."""
    return {"type": "Replace", "pattern": {"String": old}, "content": new}


def byte_level_step(*, use_regex: bool, add_prefix_space: bool = False) -> Json:
    """The step ByteLevel, of pretokenizers and decoders."""
    return {
        "type": "ByteLevel",
        "add_prefix_space": add_prefix_space,
        "trim_offsets": True,
        "use_regex": use_regex,
    }


def metaspace(prepend_scheme: str, *, split: bool = True) -> Json:
    """The step Metaspace, of pretokenizers and decoders."""
    return {
        "type": "Metaspace",
        "replacement": MARK,
        "prepend_scheme": prepend_scheme,
        "split": split,
    }


def bert_normalizer(chinese: bool, strip_accents: bool | None) -> Json:
    """BERT's normalizer."""
    return {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": chinese,
        "strip_accents": strip_accents,
        "lowercase": not chinese,
    }


def precompiled(rules: bytes) -> Json:
    """The step that has a character map of SentencePiece."""
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(rules).decode()}


def split_by(pattern: str, behavior: str = "Isolated", *, invert: bool = False) -> Json:
    """A Split by an expression."""
    found = {"Regex": pattern}
    return {"type": "Split", "pattern": found, "behavior": behavior, "invert": invert}


def digits(individual: bool) -> Json:
    """The step that takes digits apart from everything else, and perhaps from one another."""
    return {"type": "Digits", "individual_digits": individual}


# What GPT-2, cl100k, o200k, DeepSeek and others split a text by.
_ALTERNATIVES = (
    r" ?\p{L}+",
    r"'s|'t|'re|'ve|'m|'ll|'d",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)",
    r"'(?i:[sdmt]|ll|ve|re)",
    r"[^\r\n\p{L}\p{N}]?\p{L}+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    r" ?\p{N}+",
    r"\p{N}{1,3}",
    r"\p{N}",
    r" ?[^\s\p{L}\p{N}]+",
    r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
    r"\s*[\r\n]+",
    r"\s+(?!\S)",
    r"\s+",
    r"\s",
    r"[一-龥぀-ゟ゠-ヿ]+",
    r" ?[^(\s|[.,!?…。，、।۔،])]+",
)
_CLASSES = (
    *(r"\p{L}", r"\p{N}", r"\s", r"\S", r"[^\s\p{L}\p{N}]", r"[^\s\p{L}]", r"[^\r\n\p{L}\p{N}]"),
    *(r"[\r\n]", r"[\p{Lu}\p{Lt}]", r"[\p{Ll}\p{M}]", r"\p{M}", r"[\p{P}\p{S}]", r"\p{Han}"),
    *("[a-z]", "[0-9]", "[一-龥]", " ", "'", "a", "ab", "\\w", "."),
)
_QUANTIFIERS = ("+", "", "", "?", "+", "+", "*", "{1,3}", "{2}", "{2,}", "++", "?+", "+?", "{1,2}+")
_AHEAD = ("", "", "", "", r"(?!\S)", r"(?=\s)", r"(?!\p{L})", r"(?=[\r\n])", "$")
_BEHIND = ("", "", "", "", "", r"(?<=\s)", r"(?<!\p{L})", "^")


@st.composite
def _alternatives(draw: st.DrawFn) -> str:
    """One alternative of an expression: a known one, or a few classes with quantifiers."""
    if not rarely(draw, 3):
        return draw(st.sampled_from(_ALTERNATIVES))
    units = [
        draw(st.sampled_from(_CLASSES)) + draw(st.sampled_from(_QUANTIFIERS))
        for _ in range(draw(st.integers(1, 3)))
    ]
    return "".join((draw(st.sampled_from(_BEHIND)), *units, draw(st.sampled_from(_AHEAD))))


expressions = st.lists(_alternatives(), min_size=1, max_size=5).map("|".join)
_strings = st.sampled_from((" ", "a", "\n", "'", "ab", "  ", ".", "あ"))
_lossless = st.sampled_from(("Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"))


@st.composite
def splits(draw: st.DrawFn) -> Json:
    """A Split, by an expression or a string. One in eight drops text."""
    by_string = rarely(draw, 4)
    pattern = {"String": draw(_strings)} if by_string else {"Regex": draw(expressions)}
    loses = rarely(draw, 8)
    behavior = "Removed" if loses else draw(st.just("Isolated") | _lossless)
    invert = draw(st.booleans()) if loses else rarely(draw, 4)
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


# White space is lost, or parts end where those of hardly any published tokenizer end.
_RARE: tuple[Json, ...] = (
    {"type": "UnicodeScripts"},
    {"type": "Whitespace"},
    {"type": "WhitespaceSplit"},
    {"type": "BertPreTokenizer"},
    {"type": "CharDelimiterSplit", "delimiter": " "},
    {"type": "FixedLength", "length": 4},
)
_punctuation = st.builds(lambda how: {"type": "Punctuation", "behavior": how}, _lossless)


@st.composite
def split_steps(draw: st.DrawFn, most: int = 3) -> tuple[Json, ...]:
    """Pretokenizers that split a text, and change none of what they keep."""
    kinds = (splits(), splits(), splits(), st.booleans().map(digits), _punctuation)
    steps = []
    for _ in range(draw(st.integers(0, most))):
        kind = st.sampled_from(_RARE) if rarely(draw, 12) else draw(st.sampled_from(kinds))
        steps.append(draw(kind))
    return tuple(steps)


_NO_REGEX, _GPT2 = byte_level_step(use_regex=False), byte_level_step(use_regex=True)
_CJK = "[一-龥\u3040-ゟ゠-ヿ]+"
_TEKKEN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_DEEPSEEK = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

PUBLISHED: dict[str, tuple[Json, ...]] = {
    "gpt2": (_GPT2,),
    "roberta": (byte_level_step(use_regex=True, add_prefix_space=True),),
    "cl100k": (split_by(PATTERNS["cl100k"]), _NO_REGEX),
    "qwen2": (split_by(PATTERNS["qwen2"]), _NO_REGEX),
    "o200k": (split_by(PATTERNS["o200k"]), _NO_REGEX),
    "olmo2": (split_by(PATTERNS["cl100k"], "Removed", invert=True), _NO_REGEX),
    "smollm2": (digits(True), _GPT2),
    "tekken": (split_by(_TEKKEN), _NO_REGEX),
    "bloom": (split_by(r" ?[^(\s|[.,!?…。，、।۔،])]+"), _NO_REGEX),
    "deepseek-v3": (split_by(r"\p{N}{1,3}"), split_by(_CJK), split_by(_DEEPSEEK), _NO_REGEX),
    "deepseek-coder": (
        *(split_by("[\r\n]"), split_by(r"\s?\p{L}+"), split_by(r"\s?\p{P}+"), split_by(_CJK)),
        *(digits(True), _NO_REGEX),
    ),
    "falcon": (
        {"type": "Punctuation", "behavior": "Contiguous"},
        *(_GPT2, digits(False), split_by("[0-9][0-9][0-9]")),
    ),
}
"""Pretokenizers of published byte-level models."""


# What may split the letters that ByteLevel has written for bytes.
_of_letters = st.sampled_from(
    (
        *(digits(True), digits(False), {"type": "WhitespaceSplit"}, {"type": "Whitespace"}),
        *({"type": "BertPreTokenizer"}, {"type": "FixedLength", "length": 4}),
        *(split_by("[0-9][0-9][0-9]"), split_by("[0-9]{1,3}", "MergedWithNext"), split_by("Ġ")),
        *(split_by("[^a-z]+"), split_by(r"\p{L}+", "Contiguous"), split_by("a(?!Ġ)")),
        *(split_by(r"\w+|[^\w]"), split_by("a$", "MergedWithPrevious", invert=True)),
    )
)


@st.composite
def byte_level_steps(draw: st.DrawFn) -> tuple[Json, ...]:
    """Pretokenizers of a published model, perhaps with one dropped or added; or any sequence."""
    if rarely(draw, 3):
        own = byte_level_step(use_regex=draw(st.booleans()), add_prefix_space=rarely(draw, 8))
        after = draw(st.lists(_of_letters, max_size=2)) if rarely(draw, 3) else ()
        return (*draw(split_steps()), own, *after)
    steps = list(PUBLISHED[draw(st.sampled_from(tuple(PUBLISHED)))])
    if rarely(draw, 8) and steps[0]["type"] == "ByteLevel":
        steps[0] = {**steps[0], "add_prefix_space": True}
    change = draw(st.sampled_from(("none", "none", "none", "drop", "add", "reorder")))
    if change == "drop" and len(steps) > 1:
        steps.pop(draw(st.integers(0, len(steps) - 2)))
    elif change == "add":
        steps[:0] = draw(split_steps(1))
    elif change == "reorder":
        steps[:-1] = draw(st.permutations(steps[:-1]))
    return tuple(steps)


_NORMALIZERS: tuple[Json, ...] = (
    *({"type": name} for name in ("NFC", "NFC", "NFD", "NFKC", "NFKD", "Lowercase")),
    {"type": "StripAccents"},
    {"type": "Strip", "strip_left": True, "strip_right": True},
    {"type": "Strip", "strip_left": True, "strip_right": False},
    {"type": "Prepend", "prepend": "a"},
    *(replace("``", '"'), replace("a", "b"), replace("\r\n", "\n")),
    {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
    {"type": "Replace", "pattern": {"Regex": r"\s"}, "content": " "},
    {"type": "Nmt"},
    *(bert_normalizer(chinese, accents) for chinese in (False, True) for accents in (None, False)),
)
_some_normalizers = st.lists(st.sampled_from(_NORMALIZERS), min_size=1, max_size=2).map(tuple)


@st.composite
def normalizer_steps(draw: st.DrawFn) -> tuple[Json, ...]:
    """Normalizers; most often none."""
    return draw(_some_normalizers) if rarely(draw, 4) else ()


# Some are part of others, some begin as others end, and some are ordinary text.
_ADDED = (
    "<|x|>",
    "<|x",
    "x|>y",
    "  ",
    "   ",
    "\n",
    "\n\n",
    "ab",
    "bs",
    "a b",
    "'s!",
    "''",
    "é",
    "1",
    "い",
    "aい",
    "<｜い｜>",
    "a\n",
    " \n",
    "b1",
)
_FLAGS = ("special", "normalized", "lstrip", "rstrip", "single_word")


@st.composite
def added_tokens(draw: st.DrawFn) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Texts of added tokens and their flags, most of which are off; most often none."""
    texts = st.lists(st.sampled_from(_ADDED), unique=True, min_size=1, max_size=4)
    found = []
    for text in draw(texts) if rarely(draw, 3) else ():
        flags: tuple[str, ...] = ("special",) if rarely(draw, 3) else ()
        if rarely(draw, 6):
            flags = tuple(draw(st.lists(st.sampled_from(_FLAGS), unique=True, max_size=2)))
        found.append((text, flags))
    return tuple(found)


_PAIRWISE: tuple[Json, ...] = (
    *(digits(True), digits(False), split_by("a", "MergedWithPrevious"), split_by("あ")),
    *(split_by("[a-m]+", "Contiguous"), split_by("b", "MergedWithNext"), split_by("▁")),
    *(split_by(" "), split_by(r"\p{L}+|1"), split_by("[^a]", invert=True)),
)


@st.composite
def beside_metaspace(draw: st.DrawFn, own: Json) -> tuple[Json, ...]:
    """Metaspace and what splits a text before or after it, by two neighbours in most cases."""
    before = draw(split_steps(1)) if rarely(draw, 6) else ()
    if rarely(draw, 3):
        some = st.sampled_from(_PAIRWISE) | _punctuation
        if own["prepend_scheme"] == "never" and draw(st.booleans()):
            return (*before, draw(some), own)
        return (*before, own, *draw(st.lists(some, min_size=1, max_size=2)))
    return (*before, own)


@st.composite
def spaces_marked(draw: st.DrawFn) -> dict[str, Any]:
    """How a tokenizer marks spaces: its normalizers, pretokenizers and decoder."""
    more = draw(normalizer_steps()) if rarely(draw, 3) else ()
    if draw(st.booleans()):
        dummy = draw(st.booleans())
        prepend = ({"type": "Prepend", "prepend": MARK},) if dummy else ()
        normalizers = (*more, *prepend, replace(" ", MARK))
        return {"normalizers": normalizers, "decoder": "llama", "strips": dummy}
    scheme = draw(st.sampled_from(("always", "first", "never")))
    own = metaspace(scheme, split=draw(st.booleans()))
    return {
        "normalizers": more,
        "pretokenizers": draw(beside_metaspace(own)),
        "decoder": draw(st.sampled_from(("metaspace", "llama"))),
        "strips": scheme != "never",
    }
