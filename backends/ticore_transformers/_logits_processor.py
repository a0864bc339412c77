"""Inconsistent candidates masked at each step: for batches, beams and other callers of processors.

    ConsistentLogitsProcessor(tokenizer, prompt_length=inputs.input_ids.shape[1], eos_ids=[2])

No token is ever taken back, so every prefix of a text is consistent. `consistent` changes fewer
texts, since it allows temporary inconsistencies; with consistency="masks" it samples what masks
allow without making them, which takes less time. A processor has to make them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from transformers import LogitsProcessor

from ticore.backend_kit import require_integer, require_tokenizer_of_model, word_count
from ticore.consistency import Verification, Verifier, View
from ticore.errors import CapacityError
from ticore.interfaces import Tokenizer
from ticore_masks import FollowedText, refused_tokens, verification_of
from ticore_torch import ids_of

from ._ends import spelled_ends

_FEW = 4096


class ConsistentLogitsProcessor(LogitsProcessor):
    """Gives -inf to each candidate that would make its text inconsistent.

    A row that no text may begin with is left as it is, and the other rows go on:

    - a text that has ended otherwise than with one of `eos_ids`, and its padding;
    - ids of an assistant with another tokenizer, and drafts that it proposes;
    - a text in which another processor has forced a token. Nothing says so; `ticore.compare` tells.

    Args:
        tokenizer: the receiver's, as `ticore.load_tokenizer` or transformers opens it; its ids are
            the model's.
        prompt_length: how many ids of each row are the prompt, padding included.
        eos_ids: ids that may end a text. A row that has one, or a special id, is left as it is. One
            that has a text, such as a line end, is masked as any other token.
        view: what the receiver retokenizes: the `continuation`, or the `whole`. Of the whole,
            special ids at its beginning are left out; those of a chat are kept, and what is between
            them is read by itself, see `ticore.Verifier`.

    Raises:
        SettingsError: `prompt_length` or an id is no integer of at least 0; `tokenizer` is not a
            tokenizer.
    """

    def __init__(
        self,
        tokenizer: Tokenizer | object,
        *,
        prompt_length: int,
        eos_ids: Iterable[int] | int | None = (),
        view: View = "continuation",
    ) -> None:
        self._prompt_length = require_integer("prompt_length", prompt_length, 0)
        given = eos_ids if isinstance(eos_ids, Iterable) else ids_of(eos_ids)
        self._eos_ids = sorted(require_integer("eos_ids", token, 0) for token in given)
        self._verifier = Verifier(tokenizer, mode="prefix", view=view)
        self._size = self._verifier.tokenizer.vocab_size
        spelled = spelled_ends(self._verifier.tokenizer, self._eos_ids)
        self._silent_ends = [token for token in self._eos_ids if token not in spelled]
        self._ends = {*self._eos_ids, *self._verifier.tokenizer.special_ids}
        self._texts: dict[int, tuple[list[int], FollowedText]] = {}  # prompt and text, by row

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> Any:
        """The scores float[rows, width], masked, for the token that follows int64[rows, n].

        Raises:
            CapacityError: no candidate keeps a text consistent.
            SettingsError: the tokenizer's ids are not the model's.
            PromptError: in view `whole`, a prompt is not consistent.
        """
        width = scores.shape[-1]
        require_tokenizer_of_model(self._verifier.tokenizer, width)
        texts = [self._verification(number, row) for number, row in enumerate(input_ids.tolist())]
        words = word_count(max(width, self._size))
        refused = refused_tokens(texts, words, width, scores.device)
        refused[:, [token for token in self._silent_ends if token < width]] = False
        masked = torch.where(refused, -torch.inf, scores)  # one pass; masked_fill makes two
        if _has_dead_end(masked):
            raise CapacityError(
                "expected a candidate that keeps the text consistent, found none; use "
                "ticore_transformers.consistent, which takes tokens back, or name eos_ids"
            )
        return masked

    def _verification(self, number: int, row: list[int]) -> Verification | None:
        """That of a row of ids; None if the row has ended, or if no text may begin with it."""
        prompt, written = row[: self._prompt_length], row[self._prompt_length :]
        if self._ends.intersection(written) or max(written, default=0) >= self._size:
            return None
        text = self._text(number, prompt).follow(written)
        return text if text.admissible else None

    def _text(self, number: int, prompt: list[int]) -> FollowedText:
        """The text of a row; a new one if the prompt is another than before.

        A row may change places: beams fork, batches start again.
        """
        known = self._texts.get(number)
        if known is None or known[0] != prompt:
            text = FollowedText(verification_of(self._verifier, prompt))
            self._texts[number] = known = prompt, text
        return known[1]


def _has_dead_end(scores: torch.Tensor) -> bool:
    """Whether all scores of a row are -inf. Most rows have others among the first few."""
    if bool((scores[:, :_FEW].amax(dim=1) > -torch.inf).all()):
        return False
    return bool((scores.amax(dim=1) == -torch.inf).any())
