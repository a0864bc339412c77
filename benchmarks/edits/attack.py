"""Random edits of a text's tokens."""

from __future__ import annotations

from random import Random

from ticore.interfaces import Tokenizer


def edited(text: str, tokenizer: Tokenizer, share: float, random: Random) -> str:
    """A text in which a share of the tokens is edited: see the package."""
    ids, result = tokenizer.encode(text), list[int]()
    for token in ids:
        if random.random() >= share:
            result.append(token)
            continue
        other = random.choice(ids)
        result += random.choice(([], [other], [token, other]))
    return tokenizer.decode(result)
