"""Whether a detector calls too many texts watermarked under one key.

A false-positive rate holds over all keys. One key has one list after each context. With `unigram`
it has one list for everything: if this list happens to have many words of a language or a subject,
all texts in it score high. Only texts can show which keys these are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import numpy as np
import scipy

from .._support.share_interval import share_interval
from ..errors import UnscorableTextError, WrongTypeError
from ._detection import Detection, of_both_tests
from ._detector import WatermarkDetector

LEVELS = (0.1, 0.01)
"""Rates that are checked besides the detector's own. A few hundred texts suffice for them."""

CONFIDENCE = 0.99
MIN_TEXTS = 100
"""With fewer texts even a rate of 10 % cannot be told from 5 %."""

_BATCH = 500

KeyVerdict = Literal["unlucky", "no sign of bad luck", "too few texts"]


@dataclass(frozen=True)
class AlarmRate:
    """How many texts without a watermark were called watermarked at one false-positive rate.

    Attributes:
        level: the rate that was asked for.
        called: how many texts were called watermarked, as a whole or in part.
        texts: how many texts there were.
        low, high: the key's own rate is between these, with 99 % confidence (Clopper & Pearson).
        p_value: the probability that as many texts or more are called watermarked if the key's rate
            is `level`.
    """

    level: float
    called: int
    texts: int
    low: float
    high: float
    p_value: float

    @property
    def share(self) -> float:
        """The share of the texts that were called watermarked."""
        return self.called / self.texts


@dataclass(frozen=True)
class KeyCheck:
    """What texts without a watermark say about a key.

    Attributes:
        verdict: `unlucky`: more texts were called watermarked than a rate allows, by more than
            chance. At most one good key in a hundred gets this verdict.
        texts: how many texts were scored.
        skipped: how many could not be scored.
        rates: at 10 %, at 1 % and at the detector's own rate.
        strength: the mean of the texts' strengths, about 0 for most keys.
        too_short: how many texts are too short to be called watermarked at the detector's own rate,
            whatever the key; see `Detection.too_short`.
    """

    verdict: KeyVerdict
    texts: int
    skipped: int
    rates: tuple[AlarmRate, ...]
    strength: float
    too_short: int = 0

    @property
    def advice(self) -> str:
        """What to do next, in a sentence."""
        if self.verdict == "unlucky":
            return "choose another key (ticore keygen) and check it; do not use this one"
        if self.verdict == "too few texts":
            return f"give {MIN_TEXTS} texts or more, of the kind that is to be checked"
        level, bound = self.rates[-1].level, self.rates[-1].high
        if 2 * self.too_short > self.texts:
            return (
                f"give longer texts: {self.too_short:,} of {self.texts:,} are too short to be "
                f"called watermarked at the false-positive rate {level:g}, whatever the key"
            )
        return (
            f"use it; of texts like these it calls a share of at most {bound:.2g} watermarked at "
            f"the false-positive rate {level:g}, as far as this many texts can show"
        )


def check_key(detector: WatermarkDetector, texts: Iterable[str]) -> KeyCheck:
    """Look for a detector's watermark in texts that do not have it.

    Args:
        detector: with the key; its false-positive rate is checked besides 10 % and 1 %.
        texts: written by people, of the kind, language and length that the detector is for. They
            must be independent: copies of one text would be counted as new evidence.

    Returns:
        The verdict on the key, and the rates.

    Raises:
        UnscorableTextError: no text can be scored.
        WrongTypeError: `texts` is one text.

    >>> import ticore
    >>> tokenizer = ticore.load_tokenizer("tiny-en")
    >>> detector = ticore.WatermarkDetector(tokenizer, "unigram", key=bytes(32))
    >>> check_key(detector, ["It was late when they came home."]).verdict
    'too few texts'
    """
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise WrongTypeError(f"expected many texts, found one {type(texts).__name__}")
    if not isinstance(detector, WatermarkDetector):
        raise WrongTypeError(
            f"detector: expected a WatermarkDetector of one key, found {type(detector).__name__}; "
            f"check each key by itself"
        )
    skipped = too_short = 0
    values: list[float] = []
    strengths: list[float] = []
    left = iter(texts)
    while batch := list(islice(left, _BATCH)):
        for found in detector.detect_batch(batch):
            if isinstance(found, Detection):
                values.append(of_both_tests(found.p_value, found.segment.p_value))
                strengths.append(found.strength)
                too_short += found.too_short
            else:
                skipped += 1
    if not values:
        raise UnscorableTextError(
            f"expected texts to check the key with, found none that could be scored ({skipped} are "
            f"too short or not texts); give texts that people wrote"
        )
    return key_check(values, skipped, detector.fpr, float(np.mean(strengths)), too_short)


def key_check(
    values: Iterable[float], skipped: int, fpr: float, strength: float, too_short: int = 0
) -> KeyCheck:
    """What `check_key` returns, from the p-values of the texts.

    Args:
        values: for each text its p-value: of the whole text and of its best segment together.
        skipped: how many texts could not be scored.
        fpr: the detector's false-positive rate.
        strength: the mean of the texts' strengths.
        too_short: see `KeyCheck`.
    """
    found = np.fromiter(values, np.float64)
    levels = sorted({*LEVELS, fpr}, reverse=True)
    rates = tuple(_rate(level, int((found <= level).sum()), len(found)) for level in levels)
    unlucky = min(rate.p_value for rate in rates) * len(rates) <= 1 - CONFIDENCE
    verdict: KeyVerdict = "no sign of bad luck" if len(found) >= MIN_TEXTS else "too few texts"
    rates = tuple(sorted(rates, key=lambda rate: (rate.level == fpr, -rate.level)))
    verdict = "unlucky" if unlucky else verdict
    return KeyCheck(verdict, len(found), skipped, rates, strength, too_short)


def _rate(level: float, called: int, texts: int) -> AlarmRate:
    low, high = share_interval(called, texts, CONFIDENCE)
    p_value = float(scipy.special.bdtrc(called - 1, texts, level)) if called else 1.0
    return AlarmRate(level, called, texts, low, high, p_value)
