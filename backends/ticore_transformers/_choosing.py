"""The next token of many texts in one call: bans, logits processors, and what `generate` samples.

logits -> banned ids get -inf -> logits processors -> a token per row (-> verified, and again)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch

from ticore.errors import CapacityError, ModelError
from ticore_masks import NONE_LEFT, choose, choose_consistent, mask_inconsistent

from ._processing import RowProcessors
from ._reused import ReusedRows
from ._sequences import Sequences
from ._text import GeneratedText

Consistency = Literal["rollback", "masks"]


@dataclass(frozen=True)
class Wanted:
    """What is kept of each choice.

    Attributes:
        scores: the processed scores, which a token was chosen by.
        logits: the network's own.
        log_probabilities: of the chosen token, in the softmax of the scores.
    """

    scores: bool = False
    logits: bool = False
    log_probabilities: bool = False


class Chooser:
    """Chooses the next token of any of the texts.

    Args:
        processors: of `generate`.
        sequences: the ids of the rows; gets the tokens.
        sample: draw by PyTorch's random numbers; False for the likeliest token.
        never: ids below the number of logits that are never chosen, int64[n] on the device.
        consistency: `rollback`: what was chosen is verified by the text itself. `masks`: no token
            is chosen that would make a text inconsistent.
        end_ids: ids that may end a text, and are no part of it.
        wanted: what is kept.
    """

    def __init__(
        self,
        processors: RowProcessors,
        sequences: Sequences,
        *,
        sample: bool,
        never: torch.Tensor,
        consistency: Consistency,
        end_ids: frozenset[int],
        wanted: Wanted,
    ) -> None:
        self._processors = processors
        self._sequences = sequences
        self._sample = sample
        self._never = never
        self._masks = consistency == "masks"
        self._end_ids = end_ids
        self._wanted = wanted
        self._copies, self._shares = ReusedRows(), ReusedRows()

    def choose(self, texts: Sequence[GeneratedText], again: bool = False) -> list[int]:
        """The next token of each of these texts, which are those of distinct rows.

        Args:
            texts: at least one.
            again: whether a token was taken back since the last pass.

        Raises:
            CapacityError: no token is left for a text.
            ModelError: the network gives NaN or infinity.
        """
        logits = self._copied([text.logits() for text in texts])
        kept = logits.clone() if self._wanted.logits else None
        scores = self._process(logits, texts)
        tokens = self._choose(scores, texts, again)
        chosen: list[int] = tokens.tolist()
        for number, text in enumerate(texts):
            if chosen[number] == NONE_LEFT and self._masks:
                chosen[number] = self._choose_masked_first(scores, number, text)
            if chosen[number] == NONE_LEFT:
                raise _no_token_left(text.logits())
        tokens = torch.tensor(chosen, device=scores.device)
        rows, lengths = [text.row for text in texts], [len(text) for text in texts]
        self._sequences.put(rows, lengths, tokens)
        self._keep(texts, tokens, scores, kept)
        return chosen

    def any_left(self, texts: Sequence[GeneratedText]) -> list[bool]:
        """Whether the network's logits leave a token, for each of these texts; at least one."""
        logits = torch.stack([text.logits() for text in texts])
        self._ban(logits, texts)
        left: list[bool] = (logits > -torch.inf).any(dim=1).tolist()
        return left

    def _copied(self, rows: Sequence[torch.Tensor]) -> torch.Tensor:
        """The rows as float32[len(rows), width] that may be written into."""
        if rows[0].dtype != torch.float32 or self._wanted.scores or self._processors.may_keep:
            return torch.stack(list(rows)).to(torch.float32)
        return torch.stack(list(rows), out=self._copies.like(len(rows), rows[0]))

    def _process(self, logits: torch.Tensor, texts: Sequence[GeneratedText]) -> torch.Tensor:
        """The scores float32[len(texts), width] of logits, which are changed."""
        self._ban(logits, texts)
        scores: torch.Tensor = self._processors(
            logits, [text.row for text in texts], [len(text) for text in texts]
        )
        # SynthID's processor gives every token a finite score: those that others removed, this one.
        scores.masked_fill_(scores == torch.finfo(scores.dtype).min, -torch.inf)
        self._ban(scores, texts)
        return scores

    def _ban(self, scores: torch.Tensor, texts: Sequence[GeneratedText]) -> None:
        scores.index_fill_(1, self._never, -torch.inf)
        places = [(row, token) for row, text in enumerate(texts) for token in text.banned]
        if places:  # in one call for all rows: on a GPU, each call takes as long
            rows, tokens = torch.tensor(places, device=scores.device).unbind(dim=1)
            scores[rows, tokens] = -torch.inf

    def _choose(self, scores: torch.Tensor, texts: Sequence[GeneratedText], again: bool) -> Any:
        same_type = scores.dtype == torch.float32  # a processor may have changed it
        shares = self._shares.like(len(scores), scores) if self._sample and same_type else None
        if not self._masks:
            return choose(scores, sample=self._sample, again=again, shares=shares)
        verifications = [text.verification for text in texts]
        if self._wanted.scores or self._wanted.log_probabilities:
            # Only a whole mask tells how much probability is left.
            mask_inconsistent(scores, range(len(texts)), verifications, self._end_ids)
            return choose(scores, sample=self._sample, shares=shares)
        return choose_consistent(
            scores, verifications, sample=self._sample, end_ids=self._end_ids, shares=shares
        )

    def _choose_masked_first(self, scores: torch.Tensor, number: int, text: GeneratedText) -> int:
        """The token of a row whose processors kept only tokens that would make it inconsistent.

        The logits are masked, then processed. Writes the row of `scores`.
        """
        logits = text.logits().to(torch.float32, copy=True)[None]
        mask_inconsistent(logits, [0], [text.verification], self._end_ids)
        refused = torch.isneginf(logits)
        again = self._process(logits, [text]).masked_fill(refused, -torch.inf)
        scores[number] = again[0]
        return int(choose(again, sample=self._sample))

    def _keep(
        self,
        texts: Sequence[GeneratedText],
        tokens: torch.Tensor,
        scores: torch.Tensor,
        logits: torch.Tensor | None,
    ) -> None:
        """Keep what is wanted of this choice."""
        if self._wanted.log_probabilities:
            of_token = scores.gather(1, tokens[:, None])[:, 0] - scores.logsumexp(dim=1)
            for text, value in zip(texts, of_token.tolist(), strict=True):
                text.log_probabilities.put(len(text), value)
        for number, text in enumerate(texts):
            if self._wanted.scores:
                text.scores.put(len(text), scores[number])
            if logits is not None:
                text.raw_logits.put(len(text), logits[number])


def _no_token_left(logits: torch.Tensor) -> CapacityError | ModelError:
    """Why there is no token after these logits of the network."""
    if bool((logits.isnan() | logits.isposinf()).any()):
        return ModelError(
            f"expected finite logits, found NaN or infinity among those of the network; check its "
            f"weights, or open it in a format of more range than {logits.dtype}, such as "
            f"dtype=torch.bfloat16 or torch.float32"
        )
    return CapacityError(
        "expected the logits processors to leave a token that may follow, found that every token "
        "they leave was taken back; loosen them: for example raise top_k or top_p"
    )
