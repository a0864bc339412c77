"""What happens to a text while it is written: tokens come, and some are taken back.

sampled    (c)          "It was c" is consistent ...
committed  (c)          ... so the token stays
sampled    (old)        " cold" would be read as one token
dropped    (old)        no later token mends that
sampled    (at)
committed  (at)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ChangeKind = Literal["sampled", "committed", "dropped", "backtracked"]


@dataclass(frozen=True)
class TextChange:
    """One change of a text that is being written.

    Attributes:
        kind: what happened to the tokens. `sampled`: one token follows the others, and is pending.
            `committed`: the pending tokens are consistent; if there are several, the text was
            inconsistent for a while, and the last one mended it. `dropped`: the pending tokens are
            taken back. `backtracked`: the last committed tokens are taken back, since nothing
            could follow them.
        tokens: their ids, in the order of the text, at least one. `committed` and `dropped` name
            all tokens that are pending.
    """

    kind: ChangeKind
    tokens: tuple[int, ...]
