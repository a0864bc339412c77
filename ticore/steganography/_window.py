"""A window: the model sees the prompt and a text's last tokens alone.

So a text may be longer than the model's context, and what stands at a place depends on nothing that
is further away. (Yan & Murawaki's later work on asymmetric windows uses the same context.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

UNBOUNDED = 1 << 40
"""Room of a text whose length no context limits, in tokens."""


@dataclass(frozen=True)
class Window:
    """What the model sees before each token of a text.

    Attributes:
        prompt_ids: these, always.
        size: and that many of the text's last tokens, at least 1.
    """

    prompt_ids: Sequence[int]
    size: int

    def before(self, ids: Sequence[int]) -> list[int]:
        """What the model sees before the token that follows `ids`, which follow the prompt."""
        return [*self.prompt_ids, *ids[-self.size :]]
