"""What a model computes on fixed texts, in a few digests: do two machines read each other's texts?

Equal digests of the logits themselves mean that both compute the same bits, in the way that
numerics `same-stack` needs. Equal digests of the pools mean that they round alike, as numerics
`portable` needs. Digests say nothing of how close a call it was: the noise does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields

import numpy as np

from ..candidates import Candidates, PoolSettings
from ..errors import FileError, SettingsError
from ..interfaces import LanguageModel, PortableModel
from ..steganography.numerics import Numerics

PROBES = (
    "The weather in spring is often better than people expect, and the days grow longer: by the "
    'end of March, she said, "we can sit outside until seven."',
    "def mean(values: list[float]) -> float:\n    return sum(values) / len(values)\n\n\n"
    "assert mean([1.5, 2.25, -4e3]) < 0\n",
    "Ärger über Größe, naïve façades, ¿qué tal? — Łódź, İstanbul, Ελλάδα, Привет, мир!",
    "吾輩は猫である。名前はまだ無い。今天天气很好，我们去公园吧。날씨가 좋다. 😀",
)
_FIRST, _MOST = 8, 56  # tokens of a probe: those that are read at once, and all

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Fingerprint:
    """A model on one machine.

    Attributes:
        model: its digest.
        portable: its digest as any backend has it; None where it computes in less than float64.
        tokenizer: the tokenizer's digest.
        logits: SHA-256 hex digest of all logits, read as a text is written: token by token.
        pools: SHA-256 hex digest of the candidates with their rounded logits, at default settings.
        positions: how many rows of logits there are.
        noise: the largest difference of a logit to that of one parallel pass. What other machines
            compute differs by about as much.
    """

    model: str
    portable: str | None
    tokenizer: str
    logits: str
    pools: str
    positions: int
    noise: float

    def agrees(self, other: Fingerprint, numerics: Numerics) -> bool:
        """Whether texts of the one are read on the other, as far as the probes show."""
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
        """The inverse of `dataclasses.asdict`. Raises FileError, which names `source`."""
        names = {field.name for field in fields(cls)}
        if not isinstance(values, Mapping) or values.keys() != names:
            raise FileError(
                f"{source}: expected a fingerprint, with fields {', '.join(sorted(names))}, found "
                f"something else; make one with: ticore fingerprint --json"
            )
        return cls(**values)


def fingerprint(model: LanguageModel, progress: Progress | None = None) -> Fingerprint:
    """Let `model` read the probes.

    Args:
        model: any.
        progress: called with the positions read so far, and all there are.

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
        # A last id that is not read, so that there are logits after all of the probe's.
        rows = model.score([*ids, ids[-1]])[len(prompt) :]
        for row, token in zip(rows, [*ids[_FIRST:], None], strict=True):
            outlook = candidates.after(decoder)
            logits.update(np.ascontiguousarray(outlook.logits).data)
            for part in (outlook.pool.ids, outlook.pool.levels):
                pools.update(part.astype("<i8").tobytes())
            noise = max(noise, _difference(outlook.logits, row))
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
    """The largest, of logits that are finite; -inf is a model's way to rule a token out."""
    finite = np.isfinite(one) & np.isfinite(other)
    return float(np.abs(one[finite].astype(float) - other[finite]).max(initial=0.0))


def _portable_digest(model: LanguageModel) -> str | None:
    if not isinstance(model, PortableModel):
        return None
    try:
        return model.portable_digest()
    except SettingsError:
        return None
