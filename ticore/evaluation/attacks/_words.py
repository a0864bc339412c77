"""Word drop and word swap: edits that need no model.

A word is a run of characters without white space, its punctuation included. Chinese, Japanese,
Thai and others are written without spaces between words, and only a dictionary tells their words
apart. There each character, with its combining marks, counts as a word.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

import regex

from ..._support.checks import require_integer
from ._base import Attacked, require_share

_UNSPACED = "".join(
    rf"\p{{scx={script}}}"
    for script in ("Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan")
)
# What Latin shares with these scripts, such as a middle dot or a tilde, parts no words.
_ALONE = rf"[[{_UNSPACED}]--\p{{scx=Latin}}]"
_WORD = regex.compile(rf"(?V1)(?!\s)(?:{_ALONE}\p{{M}}*|[^\s{_ALONE}]+)")


def split(text: str) -> tuple[list[str], list[str]]:
    """The n words of `text`, and the n + 1 gaps around them, which may be empty.

    >>> split(" two  words\\n")
    (['two', 'words'], [' ', '  ', '\\n'])
    >>> split("\u732b\u304c\u3044\u308b")[0]
    ['\u732b', '\u304c', '\u3044', '\u308b']
    """
    spans = [match.span() for match in _WORD.finditer(text)]
    ends = [0, *(edge for span in spans for edge in span), len(text)]
    gaps = [text[begin:end] for begin, end in zip(ends[::2], ends[1::2], strict=True)]
    return [text[begin:end] for begin, end in spans], gaps


def join(words: Sequence[str], gaps: Sequence[str]) -> str:
    """The inverse of `split`."""
    return gaps[0] + "".join(word + gap for word, gap in zip(words, gaps[1:], strict=True))


class WordDrop:
    """Drops each word with probability epsilon. Use one per thread.

    Between two remaining words, one of the gaps stays: the one with the most line breaks; among
    equals the longest, then the first. White space at the ends of the text stays, unless no word is
    left.

    Args:
        epsilon: 0 to 1.
        draw: the random numbers.

    Raises:
        SettingsError: epsilon is not a probability.
    """

    def __init__(self, epsilon: float, draw: random.Random) -> None:
        require_share("epsilon", epsilon)
        self.name = f"word drop {epsilon:g}"
        self._epsilon = epsilon
        self._draw = draw

    def __call__(self, text: str) -> Attacked:
        """Drop some words; `positions` are those of the dropped words."""
        words, gaps = split(text)
        dropped = [n for n in range(len(words)) if self._draw.random() < self._epsilon]
        if not dropped:
            return Attacked(text, self.name, 0.0, ())
        gone = set(dropped)
        kept = [n for n in range(len(words)) if n not in gone]
        between = [
            max(gaps[one + 1 : other + 1], key=lambda gap: (gap.count("\n"), len(gap)))
            for one, other in pairwise(kept)
        ]
        left = join([words[n] for n in kept], [gaps[0], *between, gaps[-1]]) if kept else ""
        return Attacked(left, self.name, len(dropped) / len(words), tuple(dropped))


class WordSwap:
    """Swaps words with near ones. Use one per thread.

    Words are visited from left to right. A word that has not moved yet is swapped with probability
    epsilon. Its partner is one of the next `window` words that have not moved yet, all with equal
    probability. So a word moves at most once, and at most `window` words far. Gaps do not move.

    Args:
        epsilon: 0 to 1. With window 1, a share of 2 epsilon / (1 + epsilon) of the words moves.
        draw: the random numbers.
        window: the largest distance of a swap in words; 1 swaps neighbours.

    Raises:
        SettingsError: epsilon is not a probability, or the window is below 1.
    """

    def __init__(self, epsilon: float, draw: random.Random, *, window: int = 1) -> None:
        require_share("epsilon", epsilon)
        window = require_integer("window", window, 1)
        self.name = f"word swap {epsilon:g}" + f" within {window}" * (window > 1)
        self._epsilon = epsilon
        self._draw = draw
        self._window = window

    def __call__(self, text: str) -> Attacked:
        """Swap some words; `positions` are those of the moved words in the original."""
        words, gaps = split(text)
        moved: set[int] = set()
        for one in range(len(words)):
            if one in moved or self._draw.random() >= self._epsilon:
                continue
            near = range(one + 1, min(one + 1 + self._window, len(words)))
            free = [n for n in near if n not in moved]
            if free:
                other = self._draw.choice(free)
                words[one], words[other] = words[other], words[one]
                moved |= {one, other}
        share = len(moved) / max(1, len(words))
        return Attacked(join(words, gaps), self.name, share, tuple(sorted(moved)))
