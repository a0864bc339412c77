"""The beginning of a prompt that the paper's experiments use (their section 5)."""

from __future__ import annotations

WORDS = CHARACTERS = 10


def beginning(prompt: str, language: str) -> str:
    """The first 10 words of a prompt; in Japanese and Chinese, its first 10 characters.

    >>> beginning("one two three four five six seven eight nine ten eleven", "en")
    'one two three four five six seven eight nine ten'
    >>> beginning("一二三四五六七八九十十一", "zh")
    '一二三四五六七八九十'
    """
    if language in ("ja", "zh"):
        return prompt[:CHARACTERS]
    return " ".join(prompt.split()[:WORDS])
