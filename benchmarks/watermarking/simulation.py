"""Samples of the calibration: p-values of many simulated texts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ticore.schemes import (
    BinomialNull,
    Evidence,
    ExponentialNull,
    HypergeometricNull,
    NullDistribution,
)
from ticore.schemes._evidence import BatchEvidence
from ticore.schemes.external._grid_null import GridNull
from ticore.watermarking import Detection
from ticore.watermarking._segments import find_segments

from .detectors import make_detector
from .id_only_tokenizer import IdOnlyTokenizer
from .score_distributions import DISTRIBUTIONS, Floats, ScoreDistribution

if TYPE_CHECKING:
    from benchmarks._harness.types import Sample, Worker

RATES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
"""False-positive rates."""

PARTLY_MARKED_LENGTH = 1000
"""Tokens of a text that is watermarked in part."""

SCHEMES: dict[str, dict[str, Any]] = {
    "left_hash": {},
    "self_hash": {},
    "unigram": {},
    "gumbel": {},
    "left_hash exact": {"greens": "exact"},
    "unigram exact": {"greens": "exact"},
    "vllm": {},
    "sglang": {},
    "synthid": {},
    "textseal": {},
}
"""The schemes whose own detectors are calibrated, and their settings besides the key."""

_VOCABULARY = 32_000
_TEXTS_PER_KEY = 20
_TOKENS_PER_TASK = 2_000_000  # so that a task's scores fit into memory
_FEWER = 5  # times fewer texts where they have more than 1,000 tokens

Task = tuple[str, str, int, float, int, int]
"""The arguments of `Simulation.take`."""


def plan_tasks(texts: int, lengths: Sequence[int]) -> list[Task]:
    """The tasks of a run.

    Args:
        texts: how many without a watermark for each distribution and length. Texts that are
            watermarked in part, and those of slow schemes, are fewer.
        lengths: of texts without a watermark, in tokens.

    Returns:
        Tasks on texts without a watermark last, and of these long texts after short ones.
    """
    tasks: list[Task] = []

    def add(kind: str, name: str, length: int, strength: float, count: int, tokens: int) -> None:
        texts_per_task = max(1, _TOKENS_PER_TASK // tokens)
        for part, start in enumerate(range(0, count, texts_per_task)):
            tasks.append((kind, name, length, strength, min(texts_per_task, count - start), part))

    for name, make in DISTRIBUTIONS.items():
        for length, strength in make().watermarks:
            add("marked", name, length, strength, -(-texts // 20), PARTLY_MARKED_LENGTH)
    for name in SCHEMES:
        divisor = 10 if name in ("synthid", "unigram exact", "left_hash exact") else 1
        add("scheme", name, 200, 0.0, -(-texts // divisor), 200)
    for length in sorted(lengths):
        for name in DISTRIBUTIONS:
            if name != "one list of 4,096" or length <= 1000:  # it has no more tokens
                divisor = _FEWER if length > 1000 else 1
                add("null", name, length, 0.0, -(-texts // divisor), length)
    return tasks


def make_worker() -> Worker:
    return Simulation().take


class Simulation:
    """Simulates texts. Each distribution is made once."""

    def __init__(self) -> None:
        self._distributions: dict[str, ScoreDistribution] = {}

    def take(
        self, kind: str, name: str, length: int, strength: float, text_count: int, part: int
    ) -> Sample:
        """The p-values of some texts.

        Args:
            kind: `null`: scores without a watermark, from a distribution. `scheme`: token ids
                without a watermark, looked at by a scheme's detector. `marked`: a distribution's
                scores with a watermark in the middle of `PARTLY_MARKED_LENGTH` tokens.
            name: of the distribution or scheme.
            length: tokens of the text, or of the watermark in it.
            strength: of the watermark.
            text_count: how many texts.
            part: a number that seeds the random numbers, with kind, name, length and strength.

        Returns:
            `whole`, `segment`, `ville` and `verdict`: how many p-values are at most each of
            `RATES`, of the whole text, of its most conspicuous segment, of the segment by Ville's
            inequality, and of whole text and segment together.
            `detected`: how many texts a detector finds by their segment at each rate but the first,
            with Ville's inequality and without it.
            `lowest`: the lowest p-values of the segment.
        """
        seed = [part, length, round(strength * 1000), *f"{kind} {name}".encode()]
        rng = np.random.default_rng(seed)
        if kind == "scheme":
            whole, segment = _scheme_p_values(name, rng, text_count, length)
            ville = np.ones(text_count)
        else:
            distribution = self._distribution(name)
            scores = _scores(distribution, kind, rng, text_count, length, strength)
            evidences = _evidences(scores, distribution.one_list)
            whole = distribution.null.p_values(evidences)
            found = find_segments(distribution.null, evidences)
            segment = np.array([one.p_value for one in found])
            ville = ville_bounds(distribution.null, scores)
        p_values = {
            "whole": whole,
            "segment": segment,
            "ville": ville,
            "verdict": np.minimum(2 * np.minimum(whole, segment), 1.0),
        }
        return {
            "kind": kind,
            "name": name,
            "length": length,
            "strength": strength,
            "text_count": text_count,
            "part": part,
            **{key: [_count(p, rate) for rate in RATES] for key, p in p_values.items()},
            "detected": [[_count(p, rate / 2) for p in (ville, segment)] for rate in RATES[1:]],
            "lowest": np.sort(segment)[: max(1, text_count // 50)].tolist(),
        }

    def _distribution(self, name: str) -> ScoreDistribution:
        if name not in self._distributions:
            self._distributions[name] = DISTRIBUTIONS[name]()
        return self._distributions[name]


def _count(p_values: Floats, rate: float) -> int:
    return int((p_values <= rate).sum())


def _scores(
    distribution: ScoreDistribution,
    kind: str,
    rng: np.random.Generator,
    texts: int,
    length: int,
    strength: float,
) -> Floats:
    if kind == "null":
        return distribution.draw(rng, texts, length, 0.0)
    scores = distribution.draw(rng, texts, PARTLY_MARKED_LENGTH, 0.0)
    start = (PARTLY_MARKED_LENGTH - length) // 2
    scores[:, start : start + length] = distribution.draw(rng, texts, length, strength)
    return scores


def _evidences(scores: Floats, one_list: bool) -> BatchEvidence:
    """What a scheme would give for texts of these scores, float64[texts, length]."""
    texts, length = scores.shape
    positions = np.tile(np.arange(length), texts)
    seeds = np.zeros_like(positions) if one_list else positions
    evidence = Evidence(positions, seeds, np.arange(scores.size), scores.ravel())
    return BatchEvidence(evidence, np.arange(texts + 1) * length)


def ville_bounds(null: NullDistribution, scores: Floats) -> Floats:
    """The p-value bound of ticore before its present one.

    It is Ville's inequality for each start of a segment, or for each segment where lists are exact,
    and supposes a watermark of one strength.

    Args:
        null: the null distribution.
        scores: float64[texts, length].
    """
    length = scores.shape[1]
    if isinstance(null, BinomialNull):
        green = math.log(null.marked_share / null.share)
        red = math.log((1 - null.marked_share) / (1 - null.share))
        log_ratios = np.where(scores > 0.5, green, red)
    elif isinstance(null, ExponentialNull):
        log_ratios = scores / 2 - math.log(2)
    else:
        assert isinstance(null, GridNull), "no distribution has another kind of null"
        chances, values = null.chances, np.arange(null.unit + 1) / null.unit
        tilt = 0.5 / math.sqrt(chances @ values**2 - (chances @ values) ** 2)
        log_ratios = tilt * scores - math.log(chances @ np.exp(tilt * values))
    sums = np.concatenate([np.zeros((len(scores), 1)), np.cumsum(log_ratios, axis=1)], axis=1)
    highest = (sums - np.minimum.accumulate(sums, axis=1)).max(axis=1)
    count = length * (length + 1) / 2 if isinstance(null, HypergeometricNull) else length
    bounds: Floats = np.minimum(1.0, count * np.exp(-highest))
    return bounds


def _scheme_p_values(
    name: str, rng: np.random.Generator, texts: int, length: int
) -> tuple[Floats, Floats]:
    """p-values of whole texts and of segments, for ids that are as frequent as words are."""
    whole, segment = [], []
    scheme = name.split(maxsplit=1)[0]
    for start in range(0, texts, _TEXTS_PER_KEY):
        count = min(_TEXTS_PER_KEY, texts - start)
        lists = [rng.zipf(1.25, length) % _VOCABULARY for _ in range(count)]
        settings = _settings(name, rng)
        detector = make_detector(IdOnlyTokenizer(_VOCABULARY), scheme, settings)
        for found in detector.detect_ids_batch(lists):
            if isinstance(found, Detection):
                whole.append(found.p_value)
                segment.append(found.segment.p_value)
    return np.array(whole), np.array(segment)


def _settings(name: str, rng: np.random.Generator) -> dict[str, Any]:
    """A scheme's settings with a new key."""
    key, number = rng.bytes(32), int(rng.integers(1 << 62))
    if name == "vllm":
        return {"config": {"key": number}}
    if name == "sglang":
        return {"config": {"key": f"{number:x}"}}
    if name == "textseal":
        return {"config": {"watermark_type": "textseal", "secret_key": number}}
    if name == "synthid":
        return {"config": {"keys": rng.integers(1 << 62, size=30).tolist(), "ngram_len": 5}}
    return {"key": key, **SCHEMES[name]}
