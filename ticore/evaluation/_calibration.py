"""How often a detector finds watermarks by the length of a text: where there are none, and some."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Any

from .._support.checks import listed, require, require_integer, require_number, require_one_of
from ..errors import SettingsError, TicoreError, UnscorableTextError, WrongTypeError
from ..interfaces import LanguageModel
from ..watermarking import AnyDetection, AnyWatermarkDetector
from ..watermarking._configurations import ALL
from ._entropies import Bucket, EntropyMeter
from ._metrics import Rate, rate

LENGTHS = (25, 50, 100, 200, 400, 800)
THRESHOLDS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)

Progress = Callable[[int, int], None]
"""`f(done, total)`, in texts."""

PValues = list[tuple[str, float]]
"""Each with the name of its configuration, or `ALL`."""

_TEXTS_TOGETHER = 16  # whose cuts are looked at together: enough to fill the detector's arrays


@dataclass(frozen=True)
class CalibrationCell:
    """Texts of one kind and length, one configuration, one threshold.

    Attributes:
        configuration: its name, or `ALL`.
        length: the first tokens of each text that were looked at.
        marked: whether the texts have a watermark.
        texts: how many there were, at least 1.
        threshold: of the p-value.
        found: how many had a p-value of at most the threshold.
        entropy: only texts whose tokens up to the length have a mean entropy from the first number
            to below the second, in bits per token; None there: without an end. None: all texts.
    """

    configuration: str
    length: int
    marked: bool
    texts: int
    threshold: float
    found: int
    entropy: Bucket | None = None

    @property
    def rate(self) -> Rate:
        """The share that was found, with its 95 % interval."""
        return rate(self.found, self.texts)

    def to_dict(self) -> dict[str, Any]:
        """The attributes and the rate by name, in types that JSON has."""
        share = self.rate
        return {
            "configuration": self.configuration,
            "length": self.length,
            "marked": self.marked,
            "texts": self.texts,
            "threshold": self.threshold,
            "found": self.found,
            "rate": share.value,
            "low": share.low,
            "high": share.high,
            **({} if self.entropy is None else {"entropy": list(self.entropy)}),
        }


@dataclass(frozen=True)
class Calibration:
    """What `calibrate` found.

    Attributes:
        cells: in the order unmarked texts first, then by configuration, length and threshold.
        too_short: how many texts had fewer tokens than the least length.
        by_entropy: of the marked texts and `ALL`, by entropy, length and threshold; empty if no
            model was given.
    """

    cells: tuple[CalibrationCell, ...]
    too_short: int = 0
    by_entropy: tuple[CalibrationCell, ...] = ()

    def length_for(
        self,
        threshold: float,
        share: float = 0.95,
        configuration: str = ALL,
        entropy: Bucket | None = None,
    ) -> int | None:
        """The least length at which this share of the marked texts was found, and at all longer.

        Args:
            threshold: one that was measured.
            share: above 0, at most 1.
            configuration: its name, or `ALL`.
            entropy: one that a cell of `by_entropy` has, for `ALL`; None: all texts.

        Returns:
            Tokens; None if the longest texts were not found so often, or there were none.

        Raises:
            SettingsError: `share` is out of range; or this threshold, configuration or entropy was
                not measured.
        """
        found = None
        require_number("share", share, above=0, most=1)
        cells = self.cells if entropy is None else self.by_entropy
        if entropy is not None:
            require(bool(cells), "entropy", "None, since no model was given", entropy)
        wanted = {"configuration": configuration, "threshold": threshold, "entropy": entropy}
        for name, value in wanted.items():
            measured = list(dict.fromkeys(getattr(cell, name) for cell in cells))
            if measured:
                require_one_of(name, value, measured)
        for cell in reversed(cells):
            if cell.marked and all(getattr(cell, name) == wanted[name] for name in wanted):
                if cell.rate.value < share:
                    break
                found = cell.length
        return found

    def to_dict(self) -> dict[str, Any]:
        """All cells in types that JSON has."""
        return {
            "too_short": self.too_short,
            "cells": [cell.to_dict() for cell in self.cells],
            "by_entropy": [cell.to_dict() for cell in self.by_entropy],
        }


def calibrate(
    detector: AnyWatermarkDetector,
    unmarked: Sequence[str],
    marked: Sequence[str] = (),
    *,
    lengths: Sequence[int] = LENGTHS,
    thresholds: Sequence[float] = THRESHOLDS,
    progress: Progress | None = None,
    model: LanguageModel | None = None,
) -> Calibration:
    """Measure how often a detector calls texts watermarked, by length and configuration.

    Each text is cut to each length that it has. Of one configuration the p-value of the whole cut
    text as it is read is compared, not corrected for the others; `ALL` is the p-value that `detect`
    gives. So what a detector with `tokenizations="search"` finds by its search counts for `ALL`
    alone.

    The intervals take texts as independent. That is right over keys. Under one key of `unigram`,
    whose list is the same for all texts, false alarms come in groups: see `check_key`.

    Args:
        detector: made by `WatermarkDetector.any`.
        unmarked: texts without a watermark, of the kind that the detector will see.
        marked: texts with the watermark of any of the configurations.
        lengths: in tokens, each at least 1.
        thresholds: of p-values, between 0 and 1.
        progress: is told how far the work is.
        model: the one that wrote the marked texts, with the detector's tokenizer: they are counted
            by the entropy of its next token, too. That shows how long a text has to be for a given
            entropy.

    Raises:
        SettingsError: a length or threshold is out of range, no text is long enough, or the model
            has another tokenizer.
        WrongTypeError: the detector is of one configuration, or there is one text and no list.

    >>> import ticore
    >>> tokenizer = ticore.load_tokenizer("tiny-en")
    >>> detector = ticore.WatermarkDetector.any(tokenizer, [{"scheme": "gumbel", "key": bytes(32)}])
    >>> found = calibrate(detector, ["It was late in the evening when she came home."], lengths=[8])
    >>> found.cells[0].rate
    Rate(value=0.0, low=0.0, high=0.975)
    """
    if not isinstance(detector, AnyWatermarkDetector):
        raise WrongTypeError(
            f"detector: expected one that WatermarkDetector.any made, found "
            f"{type(detector).__name__}; for one configuration give it a list of one"
        )
    lengths = listed(lengths, "lengths", "give [it]")
    thresholds = listed(thresholds, "thresholds", "give [it]")
    unmarked, marked = (listed(texts, "texts", "give [it]") for texts in (unmarked, marked))
    require(bool(lengths and thresholds), "lengths and thresholds", "one of each or more", "none")
    lengths = [require_integer("lengths", length, 1) for length in lengths]
    thresholds = [require_number("thresholds", each, above=0, most=1) for each in thresholds]
    lengths, thresholds = sorted({*lengths}), sorted({*thresholds}, reverse=True)
    total, done, too_short = len(unmarked) + len(marked), 0, 0
    meter = None if model is None else EntropyMeter(model, detector.tokenizer)
    cells: list[CalibrationCell] = []
    buckets: dict[Bucket, dict[tuple[str, int], list[float]]] = {}
    for is_marked, texts in ((False, unmarked), (True, marked)):
        counts: dict[tuple[str, int], list[float]] = defaultdict(list)
        for ids, found in _looked_at(detector, texts, lengths):
            usable = list(found)
            too_short += not usable
            measured = meter.buckets(ids, usable) if meter and is_marked else []
            for length, p_values in found.items():
                for name, p_value in p_values:
                    counts[name, length].append(p_value)
            for length, bucket in zip(usable, measured, strict=False):
                of_bucket = buckets.setdefault(bucket, defaultdict(list))
                of_bucket[ALL, length].append(counts[ALL, length][-1])
            done += 1
            if progress is not None:
                progress(done, total)
        cells += _cells(counts, [*detector.names, ALL], lengths, thresholds, is_marked)
    if not cells:
        raise SettingsError(
            f"expected texts of {lengths[0]:,} tokens or more, found none among {total:,}; give "
            f"longer texts, or shorter lengths"
        )
    by_entropy = [
        replace(cell, entropy=bucket)
        for bucket in sorted(buckets, key=lambda bucket: bucket[0])
        for cell in _cells(buckets[bucket], [ALL], lengths, thresholds, marked=True)
    ]
    return Calibration(tuple(cells), too_short, tuple(by_entropy))


def _looked_at(
    detector: AnyWatermarkDetector, texts: Sequence[str], lengths: Sequence[int]
) -> Iterator[tuple[Sequence[int], dict[int, PValues]]]:
    """The ids of each text, and `_p_values` of its first tokens for each length that it has."""
    for begin in range(0, len(texts), _TEXTS_TOGETHER):
        some = [detector.tokenizer.encode(text) for text in texts[begin : begin + _TEXTS_TOGETHER]]
        usable = [[length for length in lengths if length <= len(ids)] for ids in some]
        cut = [ids[:n] for ids, of_text in zip(some, usable, strict=True) for n in of_text]
        found = iter(detector.detect_ids_batch(cut))
        for ids, of_text in zip(some, usable, strict=True):
            yield ids, {length: _p_values(detector, next(found)) for length in of_text}


def _p_values(detector: AnyWatermarkDetector, found: AnyDetection | TicoreError) -> PValues:
    """Those of each configuration, and of all together; 1 where no token could be scored."""
    if isinstance(found, UnscorableTextError):
        return [(name, 1.0) for name in (*detector.names, ALL)]
    if isinstance(found, TicoreError):
        raise found
    alone = [1.0 if isnan(p) else p for p in found.p_values.tolist()]
    return list(zip((*detector.names, ALL), (*alone, found.p_value), strict=True))


def _cells(
    counts: dict[tuple[str, int], list[float]],
    names: Sequence[str],
    lengths: Sequence[int],
    thresholds: Sequence[float],
    marked: bool,
) -> Iterable[CalibrationCell]:
    for name in names:
        for length in lengths:
            p_values = counts.get((name, length), [])
            for threshold in thresholds if p_values else ():
                found = sum(p <= threshold for p in p_values)
                yield CalibrationCell(name, length, marked, len(p_values), threshold, found)
