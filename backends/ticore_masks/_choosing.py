"""Sampling among the candidates that keep a text consistent, without a mask of the vocabulary.

A mask decides about every token of the vocabulary. Here only what was sampled is verified. A token
that would make its text inconsistent gets the score -inf, and the row samples again.

Both ways sample from the same distribution. Let p be the softmax of the scores, and A the
candidates that keep the text consistent.

1. Each draw is from p without the tokens that were refused before. None of these is in A. For
   example, after a refused "old" every other token is more likely by the same factor.
2. So the probabilities of the tokens in A keep their ratios in each draw.
3. The first draw in A is taken. It is the token a with probability p(a) / p(A), as with the mask.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from ticore.backend_kit import word_count
from ticore.consistency import Verification

from ._tensors import refused_tokens

NONE_LEFT = -1
"""Stands for a row that has NaN, or in which every score is -inf."""

_DRAWS = 4  # before a row gets a mask, which bounds the time of rows that hardly allow anything


def choose(
    scores: torch.Tensor,
    *,
    sample: bool,
    again: bool = False,
    shares: torch.Tensor | None = None,
) -> Any:
    """A token for each row, as transformers' `generate` chooses it.

    Args:
        scores: float[rows, width].
        sample: draw it from the softmax by PyTorch's random numbers; False for the likeliest.
        again: a token of these rows was refused. `generate` draws no second token, so this one may
            be drawn in a faster way, from the same distribution.
        shares: memory like `scores`, to write the softmax into; None for new memory.

    Returns:
        int64[rows]; `NONE_LEFT` in rows that have no score above -inf, or NaN.
    """
    if not sample:
        tokens = torch.argmax(scores, dim=-1)  # NaN counts as the largest
        return tokens.masked_fill(~(_at(scores, tokens) > -torch.inf), NONE_LEFT)
    shares = torch.softmax(scores, dim=-1, out=shares)
    empty = shares[:, 0].isnan()  # so is the whole row then
    if bool(empty.any()):
        shares[empty] = 1.0
    # A GPU draws all its random numbers at once, and may lack float64 or exact sums.
    fast = again and shares.device.type == "cpu"
    tokens = draw_by_one_number(shares) if fast else torch.multinomial(shares, 1)[:, 0]
    return tokens.masked_fill(empty, NONE_LEFT)


def draw_by_one_number(shares: torch.Tensor) -> torch.Tensor:
    """An id for each row, by one random number per row where `multinomial` takes one per id.

    Args:
        shares: float[rows, width], 0 or more, with a positive sum in each row.

    Returns:
        int64[rows]; never an id whose share is 0.
    """
    sums = shares.cumsum(dim=1, dtype=torch.float64)
    # Below the last sum, also when rounded: the number is 1 - 2**-53 at most.
    points = torch.rand(len(shares), 1, dtype=torch.float64) * sums[:, -1:]
    return torch.searchsorted(sums, points, right=True)[:, 0]


def choose_consistent(
    scores: torch.Tensor,
    texts: Sequence[Verification | None],
    *,
    sample: bool = True,
    end_ids: Iterable[int] = (),
    shares: torch.Tensor | None = None,
) -> Any:
    """A token for each row, one that keeps its text consistent.

    It is distributed as if every other candidate had been masked.

    Args:
        scores: float[rows, width], after temperature, top-k and the like. Is changed in place:
            -inf for tokens that were refused.
        texts: the verification of each row. None for a row without constraint.
        sample, shares: as in `choose`.
        end_ids: ids without a text that may end one where it is consistent.

    Returns:
        int64[rows] on the device of `scores`; `NONE_LEFT` in rows where no candidate is left.

    Raises:
        InconsistentStateError: no text may begin with the list of some row.
    """
    ends = frozenset(end_ids)
    tokens = choose(scores, sample=sample, shares=shares)
    rows = _refused(range(len(texts)), tokens.tolist(), texts, ends)
    for _ in range(_DRAWS - 1):
        if not rows:
            return tokens
        scores[rows, tokens[rows]] = -torch.inf
        again = choose(scores[rows], sample=sample, again=True)
        tokens[rows] = again
        rows = _refused(rows, again.tolist(), texts, ends)
    if rows:
        mask_inconsistent(scores, rows, [texts[row] for row in rows], ends)
        tokens[rows] = choose(scores[rows], sample=sample, again=True)
    return tokens


def mask_inconsistent(
    scores: torch.Tensor,
    rows: Sequence[int],
    texts: Sequence[Verification | None],
    end_ids: Iterable[int] = (),
) -> None:
    """Give -inf to every candidate that would make its text inconsistent.

    Args:
        scores: float[n, width]; is changed in place.
        rows: those to mask, in order.
        texts: the verification of each of `rows`. None for a row without constraint.
        end_ids: ids without a text that may end one where it is consistent.

    Raises:
        InconsistentStateError: no text may begin with the list of some row.
    """
    width = scores.shape[1]
    sizes = [text.vocab_size for text in texts if text is not None]
    words = word_count(max(width, *sizes, 1))
    refused = refused_tokens(texts, words, width, scores.device)
    if ends := sorted(end_ids):
        may_not_end = torch.tensor([text is not None and not text.consistent for text in texts])
        refused[:, ends] &= may_not_end.to(scores.device)[:, None]
    if list(rows) == list(range(len(scores))):
        scores.masked_fill_(refused, -torch.inf)
    else:
        scores[list(rows)] = scores[list(rows)].masked_fill(refused, -torch.inf)


def _refused(
    rows: Sequence[int],
    tokens: Sequence[int],
    texts: Sequence[Verification | None],
    ends: frozenset[int],
) -> list[int]:
    """Those of `rows` whose token would make the text inconsistent."""
    return [
        row
        for row, token in zip(rows, tokens, strict=True)
        if token != NONE_LEFT and not _keeps_consistent(texts[row], token, ends)
    ]


def _keeps_consistent(text: Verification | None, token: int, ends: frozenset[int]) -> bool:
    if text is None:
        return True
    if token in ends:
        return text.consistent
    return token < text.vocab_size and text.admits_one(token)


def _at(scores: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """float[rows]: the score of each row's token."""
    return scores.gather(1, tokens[:, None])[:, 0]
