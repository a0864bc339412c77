"""Whether a key calls too many texts watermarked that nobody watermarked.

A false-positive rate holds over all keys. One key has one list after each context; with `unigram`
it has one list for everything, and if that list happens to hold many words of a language or a
subject, all texts in it score high. Which keys these are only texts can tell.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import numpy as np
from scipy import special

from ..errors import UnscorableTextError
from .detector import Detection, WatermarkDetector

LEVELS = (0.1, 0.01)
"""Rates that some hundred texts can tell about, besides the detector's own."""

CONFIDENCE = 0.99
FEWEST = 100
"""Of fewer texts even a tenth cannot be told from a twentieth."""

_BATCH = 500

KeyVerdict = Literal["unlucky", "no sign of bad luck", "too few texts"]


@dataclass(frozen=True)
class Rate:
    """How many texts without a watermark were called watermarked at one false-positive rate.

    Attributes:
        level: the rate that was asked for: a share of `texts` up to this one is as promised.
        called: how many of them were called watermarked, whole or in part.
        texts: how many there were.
        low, high: between these is the key's own rate, with 99 % confidence (Clopper & Pearson).
        p_value: the probability of as many if the key's rate were `level`.
    """

    level: float
    called: int
    texts: int
    low: float
    high: float
    p_value: float

    @property
    def share(self) -> float:
        return self.called / self.texts


@dataclass(frozen=True)
class KeyCheck:
    """What texts without a watermark say about a key.

    Attributes:
        verdict: `unlucky`: more texts were called watermarked than some rate allows, by more than
            chance; that is said of one good key in a hundred at most.
        texts: how many were looked at.
        skipped: how many were too short, or no texts.
        rates: at 10 %, at 1 % and at the detector's own rate.
        strength: mean of the texts' strengths, which is about 0 for a key that suits no subject.
    """

    verdict: KeyVerdict
    texts: int
    skipped: int
    rates: tuple[Rate, ...]
    strength: float

    @property
    def advice(self) -> str:
        """What to do next: a sentence for whoever has the key."""
        if self.verdict == "unlucky":
            return "choose another key (ticore keygen) and check it; do not use this one"
        if self.verdict == "too few texts":
            return f"give {FEWEST} texts or more, of the kind that is to be looked at"
        bound = self.rates[-1].high
        return (
            f"use it; of texts like these it calls at most {bound:.2g} watermarked at the "
            f"false-positive rate {self.rates[-1].level:g}, as far as so many can tell"
        )


def check_key(detector: WatermarkDetector, texts: Iterable[str]) -> KeyCheck:
    """Look for a detector's watermark in texts that have none.

    Args:
        detector: with the key; its false-positive rate is looked at besides 10 % and 1 %.
        texts: written by people, of the kind, language and length that are to be looked at, and
            each by itself: copies of one text count as one piece of evidence too many.

    >>> import ticore
    >>> tokenizer = ticore.load_tokenizer("tiny-en")
    >>> detector = ticore.WatermarkDetector(tokenizer, "unigram", key=bytes(32))
    >>> check_key(detector, ["It was late when they came home."]).verdict
    'too few texts'
    """
    skipped = 0
    values: list[float] = []
    strengths: list[float] = []
    left = iter(texts)
    while batch := list(islice(left, _BATCH)):
        for found in detector.detect_batch(batch):
            if isinstance(found, Detection):
                values.append(min(1.0, 2 * min(found.p_value, found.segment.p_value)))
                strengths.append(found.strength)
            else:
                skipped += 1
    if not values:
        raise UnscorableTextError(
            f"expected texts to check the key on, found none that could be scored ({skipped} are "
            f"too short or no texts); give texts that people wrote"
        )
    return key_check(values, skipped, detector.fpr, float(np.mean(strengths)))


def key_check(values: Iterable[float], skipped: int, fpr: float, strength: float) -> KeyCheck:
    """The same from the texts' p-values, of the whole and its best segment together."""
    found = np.fromiter(values, np.float64)
    levels = sorted({*LEVELS, fpr}, reverse=True)
    rates = tuple(_rate(level, int((found <= level).sum()), len(found)) for level in levels)
    unlucky = min(rate.p_value for rate in rates) * len(rates) <= 1 - CONFIDENCE
    verdict: KeyVerdict = "no sign of bad luck" if len(found) >= FEWEST else "too few texts"
    rates = tuple(sorted(rates, key=lambda rate: (rate.level == fpr, -rate.level)))
    return KeyCheck("unlucky" if unlucky else verdict, len(found), skipped, rates, strength)


def _rate(level: float, called: int, texts: int) -> Rate:
    tail = (1 - CONFIDENCE) / 2
    low = float(special.betaincinv(called, texts - called + 1, tail)) if called else 0.0
    high = (
        float(special.betaincinv(called + 1, texts - called, 1 - tail)) if called < texts else 1.0
    )
    p_value = float(special.bdtrc(called - 1, texts, level)) if called else 1.0
    return Rate(level, called, texts, low, high, p_value)
