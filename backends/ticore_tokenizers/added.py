"""Added tokens: texts that the library finds before anything else."""

from __future__ import annotations

from collections.abc import Collection
from itertools import product

from .reading import Reading, State
from .space_marks import MARK, REPLACE
from .spelling import Spelling


def find_added(state: State, reading: Reading, spell: Spelling) -> dict[str, int] | None:
    """Texts and ids, or None if they are not found as in one pass over the text as it is.

    The library finds tokens that are not `normalized` in the text, leftmost first and of those the
    longest; then it normalises what lies between, and finds the others there in the same way.

    Args:
        state: a tokenizer.json.
        reading: how it reads a text.
        spell: what its decoder does to one token.
    """
    added: dict[str, int] = {}
    as_it_is, in_normal_form = set[str](), set[str]()
    for token in state["added_tokens"]:
        text, special, normalized = token["content"], token["special"], token["normalized"]
        if token["lstrip"] or token["rstrip"] or token["single_word"]:
            return None
        # Behind an added token the library puts a prefix again, as if another text began: so it
        # does, if the token is special.
        if reading.dummy_prefix and (text.startswith(" ") or not special):
            return None
        if not _is_spelled(token, state, spell):
            # One with a mark is found in texts that hold a mark, and of them nothing is said.
            if reading.atoms == "bytes" or MARK not in text or normalized or special:
                return None
            continue
        (in_normal_form if normalized else as_it_is).add(text)
        added[text] = token["id"]
    if in_normal_form and state["normalizer"] not in (None, REPLACE):
        return None
    return None if _may_overlap(as_it_is, in_normal_form) else added


def _is_spelled(token: State, state: State, spell: Spelling) -> bool:
    """Whether the decoder writes an added token as it is found, or writes nothing for it.

    Its name may be that of a token of the model, which stands for another text.
    """
    text, silent = token["content"], token["special"] and not token["normalized"]
    return spell(text) == text.encode() or (silent and text not in state["model"]["vocab"])


def _may_overlap(some: Collection[str], others: Collection[str]) -> bool:
    """Whether in any text one of `some` shares characters with one of `others`."""
    return (
        bool(_endings(some) & _beginnings(others))
        or bool(_endings(others) & _beginnings(some))
        or any(a in b or b in a for a, b in product(some, others))
    )


def _beginnings(texts: Collection[str]) -> set[str]:
    return {text[:n] for text in texts for n in range(1, len(text))}


def _endings(texts: Collection[str]) -> set[str]:
    return {text[n:] for text in texts for n in range(1, len(text))}
