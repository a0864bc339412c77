"""The regular expressions by which models split a text before merging, as first published."""

from __future__ import annotations

from ticore.interfaces import Split

_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

_CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

_O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

PATTERNS = {
    "gpt2": _GPT2,
    "cl100k": _CL100K,
    "o200k": _O200K,
    "llama3": _CL100K,
    # One digit at a time.
    "qwen2": _CL100K.replace(r"\p{N}{1,3}", r"\p{N}"),
}

# tiktoken writes the GPT-2 expression in a faster form, which splits every text alike. Its faster
# form of cl100k is left out: it does not split "\n " at the end of a text, where cl100k does.
EQUIVALENT = {
    r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s""": _GPT2,
}


def split_of(pattern: str) -> str | Split:
    """How a pattern splits texts. A published one stands for itself, in any dialect.

    tiktoken drops what a pattern does not match. The published ones match every text.
    """
    published = EQUIVALENT.get(pattern, pattern)
    if published in PATTERNS.values():
        return published
    return Split(pattern, "removed", inverted=True, dialect="rust")
