"""Misspelled words undone with the model's help: tokens that fit the text but for one letter.

    text    " and the lixtle house"
    step    after " and the" the model may write " little", " house", " other", ...
    typo    " little" fits if "x" is replaced by "t"

There are too many letters to try them all. Only those come into question that make a token fit
which could have been written there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from .._support.common_beginning import common_length
from ._small_repairs import SmallRepair

MOST_TYPOS = 60
BACK = 24  # characters before the place; wrong letters may have read on for some tokens
_EARLIER = 6  # a step earlier counts as much as that many more probable tokens


def typos(text: str, steps: Iterable[tuple[int, Sequence[str]]]) -> list[SmallRepair]:
    """The texts that may have become `text` by one wrong letter, the likeliest first.

    At most MOST_TYPOS, all different. Tokens with many letters of the text come first, and of
    these the most probable tokens.

    Args:
        text: as it was read.
        steps: offsets in the text at which tokens began, each with the tokens that could have
            been written there, as text; the last step and the most probable tokens first.
    """
    found: dict[str, tuple[tuple[int, int], SmallRepair]] = {}
    for earlier, (at, tokens) in enumerate(steps):
        for more_probable, token in enumerate(tokens):
            for supplied, repair in _one_letter(text, at, token):
                order = supplied - len(token), more_probable + _EARLIER * earlier
                known = found.get(repair.text)
                if known is None or order < known[0]:
                    found[repair.text] = order, repair
    ordered = sorted(found.values(), key=lambda each: each[0])
    return [repair for _, repair in ordered[:MOST_TYPOS]]


def _one_letter(text: str, at: int, token: str) -> Iterator[tuple[int, SmallRepair]]:
    """The texts that go on with a token at a place, if one letter is changed.

    Yields:
        How many of the token's letters the text does not have, and the text.
    """
    alike = common_length(token, text[at:])
    here = at + alike
    if alike == len(token) or here >= len(text):
        return  # it fits as it is, or the text ends
    letter = token[alike]
    found, after = text[here], text[here + 1 : here + 2]
    undone = list[tuple[int, str, str]]()
    if letter.isalpha():
        undone.append((1, "a letter that was lost", letter + text[here:]))
        if found.isalpha():
            undone.append((1, "a letter that was replaced", letter + text[here + 1 :]))
    if found.isalpha():
        undone.append((0, "a letter that was added", text[here + 1 :]))
        if after.isalpha():
            rest = after + found + text[here + 2 :]
            undone.append((0, "two letters that were exchanged", rest))
    for supplied, what, rest in undone:
        if rest.startswith(token[alike:]):
            yield supplied, SmallRepair(what, here, text[:here] + rest)
