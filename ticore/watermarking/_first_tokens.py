"""The ids that cannot begin a text, whatever follows them.

Some tokenizers put a space before each text. A text that is read without its prompt then begins
with a token for it:

    written   昔 | 々                "昔々" is read as "▁ 昔 々", whatever follows
    written   ▁ | 昔 | 々            consistent

In Japanese, where a model hardly ever writes such a space, most first tokens are rolled back: with
`tiny-ja`, 35 of 6,144 tokens can begin a text, and after one prompt they have a share of 0.0004. To
take the others back one by one takes hundreds of draws. Where a few were taken back, all of them
are banned at once: each would have been. So no probability of a text changes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from ..consistency import Verification

PATIENCE = 8
"""First tokens that are taken back before the others are looked for, which takes 13 µs each."""

FirstTokens = Callable[[], Collection[int]]
"""`f()` gives the ids that cannot begin a text. It is asked after `PATIENCE` such tokens."""


def hopeless(verification: Verification, ids: Iterable[int]) -> frozenset[int]:
    """Those of some ids that make a text inconsistent for ever if they come next.

    Args:
        verification: of a consistent text; it is as before when this returns.
        ids: to look at, each one of the tokenizer's, and no special token.
    """
    consistent = verification.mask()
    found = set()
    for token in ids:
        if not consistent[token]:
            verification.push(token)
            if verification.unrecoverable:
                found.add(token)
            verification.rewind(1)
    return frozenset(found)
