"""Prompts of the paper's experiments: the beginning of a text (their section 5)."""

from __future__ import annotations

from ticore.interfaces import LanguageModel

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


def as_given_back(model: LanguageModel, prompt: str) -> str:
    """A prompt as the tokenizer decodes it: one that folds characters would refuse it else."""
    return model.tokenizer.decode(model.tokenizer.encode(prompt))
