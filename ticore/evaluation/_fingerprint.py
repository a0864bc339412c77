"""Digests of what a model computes on fixed texts: can two machines read each other's messages?

If the digests of the logits are equal, both machines compute the same bits, as numerics
`same-stack` needs. If the digests of the pools are equal, both round to the same candidates, as
numerics `portable` needs. The noise says how far the logits may differ between machines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

import numpy as np

from ..candidates import Candidates, PoolSettings
from ..errors import InputFileError, SettingsError
from ..interfaces import LanguageModel, PortableModel
from ..steganography._portability import Numerics

PROBES = (
    "The weather in spring is often better than people expect, and the days grow longer: by the "
    'end of March, she said, "we can sit outside until seven."',
    "def mean(values: list[float]) -> float:\n    return sum(values) / len(values)\n\n\n"
    "assert mean([1.5, 2.25, -4e3]) < 0\n",
    "Ärger über Größe, naïve façades, ¿qué tal? — Łódź, İstanbul, Ελλάδα, Привет, мир!",
    "吾輩は猫である。名前はまだ無い。今天天气很好，我们去公园吧。날씨가 좋다. 😀",
)
_FIRST, _MOST = 8, 56  # tokens of a probe: read in the first pass, and at most in all

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Fingerprint:
    """What a model computes on one machine.

    Attributes:
        model: the model's digest.
        portable: its digest, the same in all backends; None if it computes in less than float64.
        tokenizer: the tokenizer's digest.
        logits: SHA-256 hex digest of all logits, computed token by token as for writing.
        pools: SHA-256 hex digest of the candidates with their rounded logits, at default settings.
        positions: the number of rows of logits.
        noise: the largest difference between a logit computed token by token and in one parallel
            pass. Between machines, logits differ by about as much.
    """

    model: str
    portable: str | None
    tokenizer: str
    logits: str
    pools: str
    positions: int
    noise: float

    def agrees(self, other: Fingerprint, numerics: Numerics) -> bool:
        """Whether one machine can read the texts of the other, as far as the probes show.

        Args:
            other: the fingerprint of the other machine.
            numerics: the setting that texts are written with.
        """
        if numerics == "same-stack":
            return (self.model, self.tokenizer, self.logits) == (
                other.model,
                other.tokenizer,
                other.logits,
            )
        return self.portable is not None and (self.portable, self.tokenizer, self.pools) == (
            other.portable,
            other.tokenizer,
            other.pools,
        )

    @classmethod
    def from_dict(cls, values: object, source: str) -> Fingerprint:
        """The inverse of `dataclasses.asdict`.

        Args:
            values: a mapping with a value for each field.
            source: the file's name, for errors.

        Raises:
            InputFileError: `values` is something else.
        """
        hints = get_type_hints(cls)
        if not (
            isinstance(values, Mapping)
            and values.keys() == hints.keys()
            and all(_is(values[name], hint) for name, hint in hints.items())
        ):
            raise InputFileError(
                f"{source}: expected a fingerprint with the fields {', '.join(sorted(hints))}, "
                f"found something else; make one with: ticore fingerprint --json"
            )
        return cls(**values)


def _is(value: object, hint: Any) -> bool:
    """Whether a value read from JSON, which may write 0.0 as 0, is of a field's type."""
    return not isinstance(value, bool) and isinstance(value, hint | int if hint is float else hint)


def fingerprint(model: LanguageModel, progress: Progress | None = None) -> Fingerprint:
    """Compute the logits of `model` on the probes.

    Args:
        model: any language model.
        progress: called with the number of positions read so far, and of all positions.

    Returns:
        The digests and the noise.

    Raises:
        ModelError: logits are NaN or infinite.
    """
    candidates = Candidates(model, PoolSettings())
    logits, pools, noise = hashlib.sha256(), hashlib.sha256(), 0.0
    encoded = (model.tokenizer.encode(text) for text in PROBES)
    probes = [ids[: min(_MOST, model.context_length)] for ids in encoded]
    positions, total = 0, sum(len(ids) - len(ids[:_FIRST]) + 1 for ids in probes)
    for ids in probes:
        prompt = ids[:_FIRST]
        decoder = model.start(prompt)
        # score() gives no logits after the last id, so one more id follows the probe.
        rows = model.score([*ids, ids[-1]])[len(prompt) :]
        for row, token in zip(rows, [*ids[_FIRST:], None], strict=True):
            pool, stepwise = candidates.after(decoder), decoder.logits()
            logits.update(np.ascontiguousarray(stepwise).data)
            for part in (pool.ids, pool.rounded_logits):
                pools.update(part.astype("<i8").tobytes())
            noise = max(noise, _difference(stepwise, row))
            if token is not None:
                decoder.push(token)
            positions += 1
            if progress is not None:
                progress(positions, total)
    return Fingerprint(
        model=model.digest(),
        portable=_portable_digest(model),
        tokenizer=model.tokenizer.digest(),
        logits=logits.hexdigest(),
        pools=pools.hexdigest(),
        positions=positions,
        noise=noise,
    )


def _difference(one: np.ndarray, other: np.ndarray) -> float:
    """The largest difference of finite logits; with -inf a model excludes a token."""
    finite = np.isfinite(one) & np.isfinite(other)
    return float(np.abs(one[finite].astype(float) - other[finite]).max(initial=0.0))


def _portable_digest(model: LanguageModel) -> str | None:
    if not isinstance(model, PortableModel):
        return None
    try:
        return model.portable_digest()
    except SettingsError:
        return None
