"""LeftHash: the token before decides which tokens are green, or several tokens do.

Source: Kirchenbauer et al., "A Watermark for Large Language Models" (2023), algorithm 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ._green_list import GreenList, GreensMode
from ._keyed_numbers import LATEST, PreparedTokens, Version
from ._settings import checked_context


class LeftHash(GreenList):
    """One green list for each token that may stand before.

    Args:
        key, vocab_size, gamma, delta, greens, version: see `GreenList`.
        context: how many tokens before a token decide, 1 to 256. With more of them the lists are
            harder to learn, and an edit changes the scores of more tokens.

    Raises:
        SettingsError, CredentialError: as `GreenList`; or `context` is out of range.
    """

    name: ClassVar[str] = "left_hash"

    def __init__(
        self,
        key: bytes | str,
        vocab_size: int,
        *,
        gamma: float = 0.5,
        delta: float = 2.0,
        greens: GreensMode = "independent",
        context: int = 1,
        version: Version = LATEST,
    ) -> None:
        super().__init__(key, vocab_size, gamma=gamma, delta=delta, greens=greens, version=version)
        self.context = checked_context(context)

    def _seed(self, before: Sequence[PreparedTokens], tokens: PreparedTokens) -> Any:
        return self._numbers.seed(before)
