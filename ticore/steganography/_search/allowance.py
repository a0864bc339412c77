"""How many tokens the model may still read before a search is given up.

Each token of the text that a search reaches first allows some passes of the model. What it does not
need it saves, up to a limit. So a search that gets on may go on. One that does not, since the text
was altered or the key is another one, ends soon, however long the text is.

Of two searches that go the same way, the one with more passes per token never has less left.
"""

from __future__ import annotations

_AT_FIRST = 64  # tokens of a text whose passes are there before any is reached
SAVED = 256
"""How many tokens' passes can be saved."""


class Allowance:
    """The passes of one search.

    Args:
        passes_per_token: that each token of the text allows.
        tokens_per_place: how many tokens a text has from one place to the next, in the mean.
    """

    def __init__(self, passes_per_token: int, tokens_per_place: float) -> None:
        self._passes_per_token = passes_per_token
        self._tokens_per_place = tokens_per_place
        self._left = float(passes_per_token * _AT_FIRST)
        self._place = 0

    @property
    def used_up(self) -> bool:
        """Whether nothing is left."""
        return self._left <= 0

    def use(self, passes: int) -> None:
        """Note that the model has read some tokens more."""
        self._left -= passes

    def reach(self, place: int) -> None:
        """Note that the search came to a place, perhaps one where it was before."""
        tokens = max(0, place - self._place) * self._tokens_per_place
        saved = self._passes_per_token * SAVED
        self._left = min(self._left + self._passes_per_token * tokens, saved)
        self._place = max(place, self._place)
