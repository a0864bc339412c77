"""Misspelled words undone with the model's help: tokens that fit the text but for one letter.

    text    " and the lixtle house"
    step    after " and the" the model may write " little", " house", " other", ...
    typo    " little" fits if "x" is replaced by "t"

There are too many letters to try them all. Only those come into question that make a token fit
which could have been written there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ._edits import Edit

MOST_TYPOS = 40
BACK = 24  # characters before the place; wrong letters may have read on for some tokens


def typos(text: str, steps: Iterable[tuple[int, Sequence[str]]]) -> list[Edit]:
    """The texts that may have become `text` by one wrong letter, the likeliest first.

    At most MOST_TYPOS, all different. Tokens that fit with many letters come first.

    Args:
        text: as it was read.
        steps: offsets in the text at which tokens began, each with the tokens that could have
            been written there, as text; the last step and the most probable tokens first.
    """
    found = dict[str, Edit]()
    fitting = dict[str, int]()  # by the same text, the letters of the longest token that fits it
    for at, tokens in steps:
        for token in tokens:
            for edit in _one_letter(text, at, token):
                found.setdefault(edit.text, edit)
                fitting[edit.text] = max(fitting.get(edit.text, 0), len(token))
    # Sorting is stable: of tokens of one length the first ones stay the first.
    return sorted(found.values(), key=lambda edit: -fitting[edit.text])[:MOST_TYPOS]


def _one_letter(text: str, at: int, token: str) -> Iterator[Edit]:
    """The texts that go on with a token at a place, if one letter is changed."""
    pairs = enumerate(zip(token, text[at:], strict=False))
    alike = next((n for n, (one, other) in pairs if one != other), None)
    if alike is None:
        return  # it fits as it is, or the text ends
    here, letter = at + alike, token[alike]
    found, after = text[here], text[here + 1 : here + 2]
    undone = list[tuple[str, str]]()
    if letter.isalpha():
        undone.append(("a letter that was lost", letter + text[here:]))
        if found.isalpha():
            undone.append(("a letter that was replaced", letter + text[here + 1 :]))
    if found.isalpha():
        undone.append(("a letter that was added", text[here + 1 :]))
        if after.isalpha():
            undone.append(("two letters that were exchanged", after + found + text[here + 2 :]))
    for what, rest in undone:
        if rest.startswith(token[alike:]):
            yield Edit(what, here, text[:here] + rest)
