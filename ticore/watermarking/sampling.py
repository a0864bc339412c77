"""Samplers: from logits to the next token.

All of them work on the arrays of any library, where these are; one number comes back.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np
from array_api_compat import array_namespace, device

from ..errors import SettingsError
from ..schemes import Scheme
from .rollback import Sampler

RowSamplers = Callable[[int], Sampler]
"""`f(row)`: the sampler of one of several texts that are written side by side."""


@dataclass(frozen=True)
class Warp:
    """What is done to logits before anything is sampled.

    Attributes:
        temperature: divides them; above 0.
        top_k: keep the k highest, and those equal to the last of them; None keeps all.
        top_p: of those keep the most probable that together reach this share; above 0, at most 1.

    Raises:
        SettingsError: one is out of range.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.temperature) and self.temperature > 0):
            raise SettingsError(
                f"temperature: expected a number above 0, found {self.temperature!r}; "
                f"to always take the likeliest token use `greedy`"
            )
        if self.top_k is not None and self.top_k < 1:
            raise SettingsError(f"top_k: expected at least 1, or None, found {self.top_k!r}")
        if not 0 < self.top_p <= 1:
            raise SettingsError(f"top_p: expected above 0 and at most 1, found {self.top_p!r}")

    def __call__(self, logits: Any) -> Any:
        """float[logit_width], with -inf for what is dropped."""
        xp = array_namespace(logits)
        if self.temperature != 1:
            logits = logits / self.temperature
        if self.top_k is not None and self.top_k < logits.shape[-1]:
            least = xp.sort(logits)[-self.top_k]
            logits = xp.where(logits < least, -xp.inf, logits)
        if self.top_p < 1:
            order = xp.flip(xp.argsort(logits))
            shares = probabilities(logits)[order]
            before = xp.cumulative_sum(shares) - shares
            least = xp.min(logits[order][before < self.top_p])
            logits = xp.where(logits < least, -xp.inf, logits)
        return logits


def probabilities(logits: Any) -> Any:
    """float[n] that sum up to 1."""
    xp = array_namespace(logits)
    raised = xp.exp(logits - xp.max(logits))
    return raised / xp.sum(raised)


def greedy(ids: Sequence[int], logits: Any) -> int:
    """The likeliest token, of equals the lowest id."""
    return int(array_namespace(logits).argmax(logits))


def own_draws(draw: random.Random) -> Callable[[int], random.Random]:
    """Random numbers of its own for each row of a batch, whichever rows there are.

    One number of `draw` is taken for all of them, so that the next batch gets others.
    """
    batch = draw.getrandbits(64)
    return lambda row: random.Random(f"{batch} {row}")


def multinomial(draw: random.Random, warp: Warp | None = None) -> Sampler:
    """Samples by probability, with random numbers from `draw`."""

    def sample(ids: Sequence[int], logits: Any) -> int:
        warped = logits if warp is None else warp(logits)
        xp = array_namespace(warped)
        sums = xp.cumulative_sum(probabilities(warped))
        # Rounding may bring the product up to the sum; then it is the last token with a share.
        passed = (sums <= draw.random() * sums[-1]) & (sums < sums[-1])
        return int(xp.sum(xp.astype(passed, xp.int32)))

    return sample


def random_numbers(seed: int | None) -> random.Random:
    """Random numbers from a seed; without one from the operating system.

    A generator that is seeded here once would give every process that is forked later the same
    numbers, and so the same texts.
    """
    return random.SystemRandom() if seed is None else random.Random(seed)


def marked(scheme: Scheme, draw: random.Random, warp: Warp | None = None) -> Sampler:
    """Samples as `multinomial`, in favour of tokens that `scheme` prefers.

    A token that has fewer before it than the scheme needs is sampled without favour. Where the
    scheme marks a context `once`, so is one whose context came before in its text, or reaches into
    the prompt: see `of_text`.
    """
    plain = multinomial(draw, warp)
    if scheme.greedy and getattr(scheme, "once", False):
        return _MarkedOnce(scheme, plain, warp)
    choose = greedy if scheme.greedy else multinomial(draw)

    def sample(ids: Sequence[int], logits: Any) -> int:
        if len(ids) < scheme.context:
            return plain(ids, logits)
        warped = logits if warp is None else warp(logits)
        context = list(ids[len(ids) - scheme.context :])
        return choose(ids, scheme.bias(context, warped))

    return sample


class _MarkedOnce:
    """Takes the token that a scheme prefers where a context comes first; see `marked`.

    What came before is read from the ids alone, so tokens that were taken back leave no trace.

    Args:
        begin: where the text begins; before it stands the prompt.
    """

    def __init__(
        self, scheme: Scheme, plain: Sampler, warp: Warp | None = None, begin: int = 0
    ) -> None:
        self._scheme, self._plain, self._warp, self._begin = scheme, plain, warp, begin

    def of_text(self, begin: int) -> Sampler:
        return _MarkedOnce(self._scheme, self._plain, self._warp, begin)

    def __call__(self, ids: Sequence[int], logits: Any) -> int:
        width = self._scheme.context
        if len(ids) - self._begin < width or not comes_first(ids, width, self._begin):
            return self._plain(ids, logits)
        warped = logits if self._warp is None else self._warp(logits)
        return greedy(ids, self._scheme.bias(list(ids[len(ids) - width :]), warped))


def comes_first(ids: Sequence[int], width: int, begin: int = 0) -> bool:
    """Whether the last `width` ids, 1 or more, stand nowhere before in `ids[begin:]`.

    >>> comes_first([1, 2, 3, 1, 2], 2), comes_first([1, 2, 3, 1, 2], 2, begin=1)
    (False, True)
    """
    end = len(ids) - 1
    context, at = ids[end + 1 - width :], begin + width - 1
    while True:
        try:
            at = ids.index(context[-1], at, end)
        except ValueError:
            return True
        if ids[at + 1 - width : at + 1] == context:
            return False
        at += 1


def of_text(sampler: Sampler, begin: int) -> Sampler:
    """The sampler of one text: the first `begin` ids that it is given are the prompt's.

    A sampler that needs to know has a method `of_text(begin)`; all others are left as they are.
    """
    own = getattr(sampler, "of_text", None)
    return sampler if own is None else cast(Sampler, own(begin))


def excluding(sampler: Sampler, never: Sequence[int]) -> Sampler:
    """`sampler`, kept from the ids `never`, which no text has: special ones, say."""
    if not never:
        return sampler

    @cache
    def mask(xp: Any, size: int, where: Any) -> Any:
        which = np.zeros(size, dtype=bool)
        which[[token for token in never if token < size]] = True
        return xp.asarray(which, device=where)

    return _Excluding(sampler, mask)


class _Excluding:
    """See `excluding`. `mask(xp, size, device)` tells what is excluded."""

    def __init__(self, sampler: Sampler, mask: Callable[[Any, int, Any], Any]) -> None:
        self._sampler, self._mask = sampler, mask

    def of_text(self, begin: int) -> Sampler:
        return _Excluding(of_text(self._sampler, begin), self._mask)

    def __call__(self, ids: Sequence[int], logits: Any) -> int:
        xp = array_namespace(logits)
        dropped = self._mask(xp, logits.shape[-1], device(logits))
        return self._sampler(ids, xp.where(dropped, -xp.inf, logits))
