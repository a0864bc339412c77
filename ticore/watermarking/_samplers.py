"""Samplers: from logits to the next token, on arrays of any library and on their own device."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, cast

from array_api_compat import array_namespace, device

from .._support.checks import require_integer, require_number, require_temperature
from ..errors import ModelError
from ..schemes import Scheme
from ..schemes._array_cache import ResultCache
from ..schemes._probabilities import probabilities
from ._logits import mask_of
from ._text_loop import Sampler

# A float32 holds both: a higher temperature changes no probability, and a lower top-p no choice.
_FLAT, _ONE_TOKEN = 1e30, 1e-30

RowSamplers = Callable[[int], Sampler]
"""`f(row)`: the sampler of one of several texts that are written together."""


@dataclass(frozen=True)
class LogitsWarper:
    """What is done to logits before anything is sampled. Thread-safe.

    Attributes:
        temperature: divides them; finite, at least 1e-6.
        top_k: keep the k highest, and those equal to the last of them; None keeps all.
        top_p: of those keep the most probable ones, until they reach this share together; above 0,
            at most 1.

    Raises:
        SettingsError: one is out of range, or is not a number.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0

    def __post_init__(self) -> None:
        checked = {
            "temperature": require_temperature(self.temperature),
            "top_k": None if self.top_k is None else require_integer("top_k", self.top_k, 1),
            "top_p": require_number("top_p", self.top_p, above=0, most=1),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def __call__(self, logits: Any) -> Any:
        """Logits float[logit_width] with -inf for what is dropped. The given array is unchanged."""
        xp = array_namespace(logits)
        if self.temperature != 1:
            logits = logits / min(self.temperature, _FLAT)
        if self.top_k is not None and self.top_k < logits.shape[-1]:
            least = xp.sort(logits)[-self.top_k]
            logits = xp.where(logits < least, -xp.inf, logits)
        if self.top_p < 1:
            order = xp.flip(xp.argsort(logits))
            shares = probabilities(logits)[order]
            before = xp.cumulative_sum(shares) - shares
            least = xp.min(logits[order][before < max(self.top_p, _ONE_TOKEN)])
            logits = xp.where(logits < least, -xp.inf, logits)
        return logits


def is_deterministic(sampler: Sampler) -> bool:
    """Whether a sampler's choices depend on ids and logits alone, so that it repeats its text."""
    return sampler is greedy or bool(getattr(sampler, "deterministic", False))


def greedy(ids: Sequence[int], logits: Any) -> int:
    """A sampler: the likeliest token; of equally likely ones, the one with the lowest id."""
    token = int(array_namespace(logits).argmax(logits))
    _require_number(logits[token])  # NaN is the largest of all
    return token


def multinomial(randomness: random.Random, warper: LogitsWarper | None = None) -> Sampler:
    """A sampler by probability.

    Args:
        randomness: where its random numbers come from.
        warper: what is done to the logits before; None: nothing.
    """

    def sample(ids: Sequence[int], logits: Any) -> int:
        warped = logits if warper is None else warper(logits)
        xp = array_namespace(warped)
        sums = xp.cumulative_sum(probabilities(warped))
        # Rounding may bring the product up to the sum. Then it is the last token with a share.
        passed = (sums <= randomness.random() * sums[-1]) & (sums < sums[-1])
        chosen = int(xp.sum(xp.astype(passed, xp.int32)))
        if chosen == 0:  # as with NaN, which passes nothing; else a device is not waited for again
            _require_number(sums[-1])
        return chosen

    return sample


def _require_number(found: Any) -> None:
    """Refuse logits of which something is NaN, such as `found`. Raises ModelError."""
    if math.isnan(float(found)):
        raise ModelError(
            "expected finite logits, found NaN or infinity; check the model's files and its number "
            "format"
        )


def watermarked_sampler(
    scheme: Scheme, randomness: random.Random, warper: LogitsWarper | None = None
) -> Sampler:
    """A sampler like `multinomial` that also prefers the tokens that a scheme prefers.

    Where the prompt and the text so far are shorter than the scheme's context, the token is sampled
    without the scheme. If the scheme marks each context only `once`, the same holds where the
    context has occurred in the text before or reaches into the prompt. Where the prompt ends is
    known only if the method `of_text` was called, see `Sampler`.

    Args:
        scheme: prefers tokens.
        randomness: where the random numbers come from that are not the scheme's.
        warper: what is done to the logits before the scheme's bias; None: nothing.
    """
    unmarked = multinomial(randomness, warper)
    choose = greedy if scheme.greedy else multinomial(randomness)
    if getattr(scheme, "once", False):
        return _OncePerContext(scheme, unmarked, choose, warper)
    return _AtEachContext(scheme, unmarked, choose, warper)


class _AtEachContext:
    """Prefers the tokens that a scheme prefers, wherever its context is complete."""

    def __init__(
        self, scheme: Scheme, unmarked: Sampler, choose: Sampler, warper: LogitsWarper | None
    ) -> None:
        self._scheme, self._unmarked, self._choose = scheme, unmarked, choose
        self._warper = warper
        self.deterministic = is_deterministic(choose)

    def __call__(self, ids: Sequence[int], logits: Any) -> int:
        width = self._scheme.context
        if len(ids) < width:
            return self._unmarked(ids, logits)
        warped = logits if self._warper is None else self._warper(logits)
        return self._choose(ids, self._scheme.bias(list(ids[len(ids) - width :]), warped))


class _OncePerContext(_AtEachContext):
    """Takes the token that a scheme prefers where a context occurs first in the text.

    The earlier contexts are read from the ids alone, so tokens that were taken back leave no trace.
    """

    _begin = 0  # how many of the ids are the prompt's

    def of_text(self, prompt_length: int) -> Sampler:
        made = copy(self)
        made._begin = prompt_length
        return made

    def __call__(self, ids: Sequence[int], logits: Any) -> int:
        width = self._scheme.context
        if len(ids) - self._begin < width or not is_first_occurrence(ids, width, self._begin):
            return self._unmarked(ids, logits)
        return super().__call__(ids, logits)


def is_first_occurrence(ids: Sequence[int], width: int, begin: int = 0) -> bool:
    """Whether the last `width` ids, 1 or more, stand nowhere before in `ids[begin:]`.

    >>> is_first_occurrence([1, 2, 3, 1, 2], 2), is_first_occurrence([1, 2, 3, 1, 2], 2, begin=1)
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


def of_text(sampler: Sampler, prompt_length: int) -> Sampler:
    """The sampler of one text: the first `prompt_length` ids that it is given are the prompt's.

    A sampler that must know this has a method `of_text`, see `Sampler`. All others are returned as
    they are.
    """
    own = getattr(sampler, "of_text", None)
    return sampler if own is None else cast(Sampler, own(prompt_length))


def excluding(sampler: Sampler, never: Sequence[int], masks: ResultCache | None = None) -> Sampler:
    """`sampler`, for which some ids have the logit -inf: special tokens, for example.

    Args:
        sampler: any.
        never: these ids.
        masks: a cache that all samplers with the same `never` may share.
    """
    return (
        _Excluding(sampler, never, ResultCache() if masks is None else masks) if never else sampler
    )


class _Excluding:
    """See `excluding`. `masks` holds one bool[n] per library, number of logits and device."""

    def __init__(self, sampler: Sampler, never: Sequence[int], masks: ResultCache) -> None:
        self._sampler, self._never, self._masks = sampler, never, masks

    def of_text(self, prompt_length: int) -> Sampler:
        return _Excluding(of_text(self._sampler, prompt_length), self._never, self._masks)

    def __call__(self, ids: Sequence[int], logits: Any) -> int:
        xp, size, where = array_namespace(logits), logits.shape[-1], device(logits)
        excluded = self._masks.get((xp, size, where), lambda: mask_of(self._never, logits))
        return self._sampler(ids, xp.where(excluded, -xp.inf, logits))
