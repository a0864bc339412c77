"""What each mode would refuse of a text that somebody else wrote.

A writer who is held to a mode cannot write every text: where `encode` gives a text several tokens
whose beginnings would be read back as others, the mode refuses the next of them. How often that
happens in real text says what a mode costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
import numpy.typing as npt

from ..errors import SettingsError
from ..interfaces import LanguageModel, Tokenizer
from ._modes import Mode
from ._verifier import Verifier

# Characters in a passage. Each is read by itself, so that a method that retokenizes the whole list
# at each token takes a time that grows with the text and not with its square.
_PASSAGE = 2000
# Characters that such a method reads. It takes milliseconds for each token.
_MOST_RETOKENIZED = 20_000


@dataclass(frozen=True)
class Rejections:
    """What each mode would refuse of a text.

    A mode refuses a token of encode(text) if the tokens up to it may not stand at the beginning of
    a text, and those before it may.

    Attributes:
        characters: how much of the text was read: all of it, or the first 20,000 characters where
            each token takes a retokenization.
        tokens: the number of its tokens.
        changed: how many of its passages (up to 2,000 characters, cut before a line if possible)
            `decode` and `encode` do not give back as the same tokens.
        refused: the number of tokens that each mode refuses.
        bits: the surprisal of the text under a model; None without a model.
        refused_bits: that of the tokens which each mode refuses; None without a model.
    """

    characters: int
    tokens: int
    changed: int
    refused: Mapping[Mode, int]
    bits: float | None = None
    refused_bits: Mapping[Mode, float] | None = None


class TextReader:
    """Counts what is refused of one text.

    Args:
        tokenizer: the one whose `encode` reads it.
        text: the text.
        model: gives the surprisal of each token; None for counts only.

    Attributes:
        steps: how often `progress` is told of a token.

    Raises:
        SettingsError: the model has another tokenizer.
    """

    def __init__(self, tokenizer: Tokenizer, text: str, model: LanguageModel | None = None) -> None:
        if model is not None and model.tokenizer.digest() != tokenizer.digest():
            raise SettingsError(
                "expected a model with the tokenizer that is examined, found one with another; "
                "examine the model's tokenizer"
            )
        self._verifiers = {m: Verifier(tokenizer, mode=m) for m in get_args(Mode)}
        if any(verifier.method == "retokenize" for verifier in self._verifiers.values()):
            text = text[:_MOST_RETOKENIZED]
        self._characters, self._model = len(text), model
        self._passages = tokenizer.encode_batch(list(_passages(text)))
        self.steps = len(self._verifiers) * sum(map(len, self._passages))

    def read(self, progress: Callable[[int], None]) -> Rejections:
        """Go through the text once for each mode.

        Args:
            progress: called after each passage with the number of its tokens.
        """
        surprisals = None if self._model is None else [*_surprisals(self._model, self._passages)]
        refused = dict.fromkeys(self._verifiers, 0)
        bits = dict.fromkeys(self._verifiers, 0.0)
        changed = 0
        for mode, verifier in self._verifiers.items():
            changed = 0  # the same in every mode
            for n, ids in enumerate(self._passages):
                found, consistent = _refused(verifier, ids)
                changed += not consistent
                refused[mode] += len(found)
                if surprisals is not None:
                    bits[mode] += float(surprisals[n][found].sum())
                progress(len(ids))
        return Rejections(
            characters=self._characters,
            tokens=sum(map(len, self._passages)),
            changed=changed,
            refused=refused,
            bits=None if surprisals is None else float(sum(row.sum() for row in surprisals)),
            refused_bits=None if surprisals is None else bits,
        )


def _refused(verifier: Verifier, ids: Sequence[int]) -> tuple[list[int], bool]:
    """The positions of the tokens that are refused, and whether the list is consistent."""
    verification, found = verifier.start(), []
    may_begin = True
    for position, token in enumerate(ids):
        verification.push(token)
        may_begin, before = verification.admissible, may_begin
        if before and not may_begin:
            found.append(position)
    return found, verification.consistent


def _passages(text: str) -> Iterator[str]:
    while len(text) > _PASSAGE:
        cut = text.rfind("\n", 1, _PASSAGE)
        cut = cut if cut > 0 else _PASSAGE
        yield text[:cut]
        text = text[cut:]
    if text:
        yield text


def _surprisals(
    model: LanguageModel, passages: Sequence[Sequence[int]]
) -> Iterator[npt.NDArray[np.float64]]:
    """-log2 of each token's probability, float64[tokens], for each passage.

    What a model cannot read at once is read in parts, each from its own beginning.
    """
    for ids in passages:
        parts = [np.zeros(0)]
        for start in range(0, len(ids), model.context_length):
            part = np.asarray(ids[start : start + model.context_length])
            logits = np.asarray(model.score(part.tolist()), dtype=np.float64)
            top = logits.max(axis=1)
            total = top + np.log(np.exp(logits - top[:, None]).sum(axis=1))
            parts.append((total - logits[np.arange(len(part)), part]) / np.log(2))
        yield np.concatenate(parts)
