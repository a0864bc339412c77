"""SelfHash: one token of a window decides which tokens are green, and the window has the candidate.

Source: Kirchenbauer et al., "On the Reliability of Watermarks for Large Language Models" (2023),
section 3. A list depends on the least hash in a window, so most edits elsewhere in the window do
not change it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ._green_list import GreenList, GreensMode
from ._keyed_numbers import LATEST, PreparedTokens, Version
from ._settings import checked_context


class SelfHash(GreenList):
    """One list for each pair of a token and the token of its window with the least number.

    Args:
        key, vocab_size, gamma, delta, greens, version: see `GreenList`.
        context: how many tokens before the candidate are in its window, 1 to 256. 3 makes a window
            of four tokens, as in the paper's experiments.

    Raises:
        SettingsError, CredentialError: as `GreenList`; or `context` is out of range.
    """

    name: ClassVar[str] = "self_hash"
    _uses_candidate: ClassVar[bool] = True

    def __init__(
        self,
        key: bytes | str,
        vocab_size: int,
        *,
        gamma: float = 0.5,
        delta: float = 2.0,
        greens: GreensMode = "independent",
        context: int = 3,
        version: Version = LATEST,
    ) -> None:
        super().__init__(key, vocab_size, gamma=gamma, delta=delta, greens=greens, version=version)
        self.context = checked_context(context)

    def _seed(self, before: Sequence[PreparedTokens], tokens: PreparedTokens) -> Any:
        return self._numbers.least_seed(before, tokens)
