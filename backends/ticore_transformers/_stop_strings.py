"""`stop_strings`, also where several tokens are committed at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from transformers import StoppingCriteria, StoppingCriteriaList, StopStringCriteria

from ticore.errors import SettingsError
from ticore.interfaces import NamingTokenizer, Tokenizer


class StopStrings(StoppingCriteria):
    """Ends a text in which one of some strings stands.

    transformers' own criterion looks at the last token alone. So it misses a string that ends
    before the last of several tokens, which rollback may commit at once.

    Args:
        strings: where one of them ends in the text, it stops. It may begin in the prompt.
        tokenizer: spells the tokens.
        prompt_length: how many ids of each row are the prompt, padding included.
        most_new: the most tokens of a row that are new since the last call.

    Attributes:
        strings: as given.
    """

    def __init__(
        self, strings: Iterable[str], tokenizer: Tokenizer, prompt_length: int, most_new: int = 1
    ) -> None:
        self.strings = tuple(strings)
        self._strings = [string.encode() for string in self.strings]
        self._tokenizer = tokenizer
        self._prompt_length = prompt_length
        # Each token before them spells at least a byte, so that no string begins earlier.
        self._window = most_new + max(map(len, self._strings))

    def __call__(self, input_ids: torch.Tensor, scores: Any, **kwargs: Any) -> Any:
        """bool[rows] for the ids int64[rows, n]."""
        begin = max(0, input_ids.shape[1] - self._window)
        in_prompt = max(0, self._prompt_length - begin)
        stopped = [
            self._stands_in(self._bytes(row[:in_prompt]), self._bytes(row[in_prompt:]))
            for row in input_ids[:, begin:].tolist()
        ]
        return torch.tensor(stopped, device=input_ids.device)

    def _stands_in(self, prompt: bytes, text: bytes) -> bool:
        """Whether a string ends in the text; those that end in the prompt were there before."""
        both = prompt + text
        return any(
            both.find(string, max(0, len(prompt) - len(string) + 1)) >= 0
            for string in self._strings
        )

    def _bytes(self, ids: list[int]) -> bytes:
        known = range(self._tokenizer.vocab_size)
        return b"".join(self._tokenizer.token_bytes(token) for token in ids if token in known)


def with_stop_strings(
    criteria: StoppingCriteriaList,
    strings: str | Iterable[str] | None,
    tokenizer: Tokenizer,
    prompt_length: int,
    most_new: int,
) -> StoppingCriteriaList:
    """The criteria, with `strings`, and with ours for each of transformers' own.

    Raises:
        SettingsError: `strings` is not a string, or several, each of at least one character.
    """
    found = StoppingCriteriaList()
    for criterion in criteria:
        if isinstance(criterion, StopStringCriteria):
            strings_of_it = criterion.stop_strings
            found.append(StopStrings(strings_of_it, tokenizer, prompt_length, most_new))
        else:
            found.append(criterion)
    if strings is not None:
        strings = checked_strings(strings)
        found.append(StopStrings(strings, tokenizer, prompt_length, most_new))
    return found


def strings_of(criteria: StoppingCriteriaList) -> list[str]:
    """All strings at which these criteria end a text."""
    return [string for one in criteria if isinstance(one, StopStrings) for string in one.strings]


def named_specials(strings: Iterable[str], tokenizer: Tokenizer) -> frozenset[int]:
    """The special ids whose names are among the strings: no text spells them, so they end it."""
    if not isinstance(tokenizer, NamingTokenizer):
        return frozenset()
    wanted = set(strings)
    return frozenset(i for i in tokenizer.special_ids if tokenizer.token_name(i) in wanted)


def checked_strings(strings: str | Iterable[str]) -> list[str]:
    """Stop strings as a list.

    Raises:
        SettingsError: as `with_stop_strings`.
    """
    several: list[Any] = [strings]
    if isinstance(strings, Iterable) and not isinstance(strings, str):
        several = list(strings)
    if not several or not all(isinstance(one, str) and one for one in several):
        raise SettingsError(
            f"stop_strings: expected a string, or several, each of at least one character, found "
            f"{strings!r}"
        )
    return several
