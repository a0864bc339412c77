"""Pretokenizers of published tokenizers, and some that have what these lack."""

from itertools import accumulate

from tokenizers import Regex, pre_tokenizers

from tests.support.random_bpe import PATTERNS
from ticore.interfaces import Split
from ticore_tokenizers._scripts import split_at_scripts

GPT2 = PATTERNS["gpt2"]
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_NOT_HAN_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_NOT_HAN_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_WHITESPACE = r"\w+|[^\w\s]+"
_PUNCTUATION = r"[!-/:-@\[-`{-~\p{P}]"

PRETOKENIZERS: dict[str, tuple[str | Split, ...]] = {
    **{name: (pattern,) for name, pattern in PATTERNS.items()},
    "deepseek-v3": (
        r"\p{N}{1,3}",
        "[一-龥\u3040-ゟ゠-ヿ]+",
        r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
        r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
    "tekken": (
        rf"[^\r\n\p{{L}}\p{{N}}]?{_NOT_HAN_UPPER}*{_NOT_HAN_LOWER}+"
        rf"|[^\r\n\p{{L}}\p{{N}}]?{_NOT_HAN_UPPER}+{_NOT_HAN_LOWER}*"
        r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
    "han-apart": (
        rf"[\p{{Han}}]+|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+{_CONTRACTION}"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
    "digits-gpt2": (r"\p{N}", GPT2),
    "digit-runs-gpt2": (r"\p{N}+", GPT2),
    "three-digits-gpt2": (r"\p{N}{3}", GPT2),
    "falcon": (
        Split(_PUNCTUATION, "contiguous"),
        GPT2,
        r"\p{N}+",
        "[0-9][0-9][0-9]",
    ),
    "bloom": (" ?[^(\\s|[.,!?…。，、।۔،])]+",),
    "all-cases": (r"(?i)ab+|'[st]|[af\d]|\s+", r"(?i:x|[yz]{2})"),
    "covering": (Split(PATTERNS["cl100k"], "removed", inverted=True),),
    "to-the-left": (Split(r"[ \t]", "merged_with_previous"),),
    "to-the-right": (Split(" ", "merged_with_next"), r"\p{N}{2}"),
    "inverted": (Split(r"[a-z]+", "merged_with_next", inverted=True),),
    "contiguous": (Split(r"\p{P}", "contiguous"), r"\s+"),
    "kana-apart": (r"[\u3041-\u309a]+", r"\p{M}\p{L}?|\p{N}"),
    "signs-of-their-own": (
        r"'s|'|\p{L}+|[^\s\p{L}]+|\s+",
        Split("'", "merged_with_previous"),
    ),
    "signs-later": (GPT2, Split("'", "merged_with_next")),
    "literal-letters": (r"ab|[a-c]+|\s+?x|'[st]u?|\S",),
    "far-sight": (r"a+(?=b\p{N})|(?>\s+)|[^a]{1,2}",),
    "deepseek-llm": (
        *("[\r\n]", r"\s?[A-Za-zµÀ-ÖØ-öø-ƺ]+", r"\s?[!-/:-~！-／：-～‘-‟\u3000-。]+", r"\s+$"),
        *("[一-龥ࠀ-一가-퟿]+", r"\p{N}"),
    ),
    "kimi": (
        r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*"
        rf"[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}&&[^\p{{Han}}]]+{_CONTRACTION}"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
        rf"[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}&&[^\p{{Han}}]]*{_CONTRACTION}"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
    "words": (r"\w+|[^\w\s]+|\s+", r"\b[a-c]+\b|\B1"),
    "lines": (r"^\s+|b$|^a", r"(?<=\s)\p{L}|(?<!a)1|[.\n]"),
    "after-others": (
        Split(r"(?<!\p{L})\s+ +[a-z]| ?\p{L}+", "contiguous"),
        r"(?<=\p{Ll})(?=\p{Lu})\p{L}|[^\s\p{L}]{1,2}(?<!1)",
    ),
    "restarts-nowhere": ("a[ab]*c|[a ]+", "b"),
}
"""The steps of each, by name."""


BYTE_STEPS: dict[str, tuple[str | Split, ...]] = {
    "falcon": (
        Split(_PUNCTUATION, "contiguous"),
        GPT2,
        Split(r"\p{N}+", reads="bytes"),
        Split("[0-9][0-9][0-9]", reads="bytes"),
    ),
    "digits": (Split(r"\p{N}", reads="bytes"), Split("a[a-z]", reads="bytes")),
    "ascii": (
        r"\s+",
        Split(r"[0-9]{2}(?!Ġ)|Ġ$|(?<=a)b", "merged_with_next", reads="bytes"),
        Split("[À-ö]+", "merged_with_previous", reads="bytes"),
    ),
    "words": (Split(_WHITESPACE, "removed", True, "rust", "bytes"),),
    "signs": (Split(r"\s", "removed", reads="bytes"), Split(r"\p{P}", reads="bytes")),
    "letters": (Split(r"\p{Ll}+|[1-9]", "contiguous", True, reads="bytes"),),
}
"""Pretokenizers with steps that see bytes, by name."""


def library_ends(steps: tuple[str | Split, ...], text: str) -> list[int]:
    """Where the library `tokenizers` ends the parts of a text; parts that it drops do not count."""
    return [end for _, (_, end) in library_splitter(steps).pre_tokenize_str(text)]


def library_splitter(steps: tuple[str | Split, ...]) -> pre_tokenizers.PreTokenizer:
    """What splits texts in the library `tokenizers`."""
    return pre_tokenizers.Sequence([_in_library(step) for step in steps])


def library_ends_in_bytes(steps: tuple[str | Split, ...], text: str) -> list[int]:
    """The same in bytes of UTF-8, for steps that see bytes or characters."""
    sees_bytes = [isinstance(step, Split) and step.reads == "bytes" for step in steps]
    found = [_in_library(step) for step in steps]
    at = sees_bytes.index(True) if True in sees_bytes else len(steps)
    found.insert(at, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False))
    # Each letter is a byte.
    parts = pre_tokenizers.Sequence(found).pre_tokenize_str(text)
    return list(accumulate(len(part) for part, _ in parts))


def _in_library(step: str | Split) -> pre_tokenizers.PreTokenizer:
    split = Split(step) if isinstance(step, str) else step
    if split.dialect == "rust":
        assert split.expression == _WHITESPACE
        return pre_tokenizers.Whitespace()
    if split.behavior == "on_change":
        assert split == split_at_scripts()
        return pre_tokenizers.UnicodeScripts()
    return pre_tokenizers.Split(Regex(split.expression), split.behavior, split.inverted)
