"""vLLM's watermark of two keys: `--watermark-config '{"algorithm": "dual_key_gumbel", ...}'`.

Tokens are chosen as by `gumbel`, by one of two keys that are derived from the writer's. In plain
sampling key B is taken with probability alpha; in speculative decoding key A chooses the drafts and
key B what takes the place of a rejected one. Which key wrote a token cannot be known later, so its
scores under both are added, weighted with 1 - alpha and alpha.

Sources: vLLM 0.32, vllm/v1/watermarking/gumbel.py (`DualKeyGumbelWatermarker` and its detector) and
vllm/config/watermarking.py. Its detector takes a gamma distribution with the same mean and variance
for the sum; here the p-value is exact. Compared with vLLM 0.32: the scores of that detector.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ..._support.checks import is_number
from .._base import Array
from .._evidence import Evidence
from .._null_distributions import NullDistribution
from .._settings import checked_number
from .._two_key_null import LEAST_WEIGHT, null_of_two_keys
from .._windows import SomeIds
from ._vllm import WIDTH, VLLMGumbel, selected_vllm_settings
from ._writing import one_of_two

_ALPHA = 0.1  # the engine's default


class VLLMDualKeyGumbel:
    """Reads and writes as vLLM does with algorithm "dual_key_gumbel". Thread-safe.

    Scores are those of vLLM's own `DualKeyGumbelWatermarkDetector`, which scores only the first
    token after each context; `Evidence.distinct` counts each different token after a context once.

    Attributes:
        context: `context_width`.
        null: the distribution of the weighted sums of two exponential scores.
        greedy, once: see `ticore.schemes.Scheme`.
    """

    name: ClassVar[str] = "vllm"
    greedy = False
    once = True

    def __init__(self, key: int, *, alpha: float = _ALPHA, context_width: int = WIDTH) -> None:
        """
        Args:
            key: the writer's, from 0 to 2^64 - 1.
            alpha: the weight of key B: 0, 1, or above 0.0001 and below 0.9999.
            context_width: the writer's, from 1 to 256.

        Raises:
            SettingsError: a value is out of range.
        """
        self._keys = VLLMGumbel.of_two_keys(key, context_width=context_width)
        self._alpha = (
            float(alpha)
            if is_number(alpha) and alpha in (0, 1)
            else checked_number("alpha", alpha, above=LEAST_WEIGHT, below=1 - LEAST_WEIGHT)
        )
        self.context = self._keys[0].context

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> VLLMDualKeyGumbel:
        """From the object that `--watermark-config` takes.

        Raises:
            SettingsError: there is no key, `algorithm` or `prf` is another one, or a setting is
                unknown or out of range.
        """
        return cls(**selected_vllm_settings(config, "dual_key_gumbel", ("alpha",)))

    @property
    def null(self) -> NullDistribution:
        return null_of_two_keys(self._alpha)

    def evidence(self, ids: SomeIds) -> Evidence:
        """Scores of -(1 - alpha) log(1 - u) - alpha log(1 - v), for the numbers of both keys.

        Arguments and errors: see `VLLMGumbel.evidence`.
        """
        a, b = (one.evidence(ids) for one in self._keys)
        scores = (1 - self._alpha) * a.scores + self._alpha * b.scores
        return Evidence(a.positions, a.seeds, a.draw_ids, scores)

    def bias(self, context: Array, logits: Array) -> Array:
        """Key A's token with probability 1 - alpha, and key B's; see `Scheme.bias`."""
        a, b = (one.bias(context, logits) for one in self._keys)
        return one_of_two(a, b, self._alpha)
