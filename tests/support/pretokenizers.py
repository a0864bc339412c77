"""Pretokenizers of published tokenizers, and some that have what these lack."""

from tokenizers import Regex, pre_tokenizers

from tests.support.random_bpe import PATTERNS
from ticore.interfaces import Split

GPT2 = PATTERNS["gpt2"]
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_NOT_HAN_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_NOT_HAN_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
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
    "restarts-nowhere": ("a[ab]*c|[a ]+", "b"),
}
"""The steps of each, by name."""


def library_ends(steps: tuple[str | Split, ...], text: str) -> list[int]:
    """Where the library `tokenizers` ends the parts of a text; parts that it drops do not count."""
    splits = [Split(step) if isinstance(step, str) else step for step in steps]
    sequence = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(s.expression), s.behavior, s.inverted) for s in splits]
    )
    return [end for _, (_, end) in sequence.pre_tokenize_str(text)]
