"""The measures of one model's texts, each with its interval of 95 %."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from benchmarks._harness.auroc import auroc, auroc_interval
from benchmarks._harness.intervals import mean, median, ratio
from ticore.evaluation import Rate, rate

from .arms import SAMPLING, UNMARKED, may_end

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

FALSE_POSITIVE_RATES = (0.01, 0.001)
"""At which true-positive rates are given."""

Floats = npt.NDArray[np.float64]
Cells = Mapping[tuple[str, str], Sequence["JsonObject"]]


def summarize(rows: Sequence[JsonObject]) -> JsonObject:
    """What the page shows of one model.

    Args:
        rows: see `samples.rows`.

    Returns:
        `unmarked`: for each scheme what it finds in texts that the model writes without a watermark
        and without rollback; `above` has the strength that a share of these texts exceeds.
        `cells`: one entry for each scheme, arm and attack; the `attack` of unattacked texts is
        None. Watermarked texts of every cell are told apart from the same unmarked texts. Texts
        that were `given_up` count in the cost alone.
    """
    cells: dict[tuple[str, str], list[JsonObject]] = {}
    for row in rows:
        cells.setdefault((row["scheme"], row["arm"]), []).append(row)
    unmarked = cells.get((UNMARKED, SAMPLING.name), [])
    found = []
    for (scheme, arm), begun in cells.items():
        null = _unmarked_strengths(unmarked, scheme)
        kind = {"scheme": scheme, "arm": arm, "observation": begun[0]["observation"]}
        texts = [text for text in begun if not _is_given_up(text)]
        given_up = _as_json(rate(len(begun) - len(texts), len(begun)))
        cost = {"given_up": given_up, "forwards": _passes(begun), "time": _time_ratio(begun, cells)}
        if not texts:
            found.append(kind | {"attack": None, "text_count": 0} | cost)
            continue
        written = _writing(texts) | cost
        if scheme != UNMARKED:
            written |= _detection([text["detections"][scheme] for text in texts], null)
        found.append(kind | {"attack": None} | written)
        for attack in dict.fromkeys(name for text in texts for name in text["attacks"]):
            # A text that an attack found no answer to has none.
            after = [text["attacks"][attack] for text in texts if attack in text["attacks"]]
            measures = _reading(after) | _detection(after, null) | _change(after)
            found.append(kind | {"attack": attack} | measures)
    return {"unmarked": _unmarked(unmarked), "cells": found}


def threshold(null: Floats, share: float) -> float:
    """The strength that at most this share of unmarked texts exceeds.

    With fewer than 1 / share texts it is the highest of all: that the share is as small is then
    hoped for, not measured.

    >>> threshold(np.arange(1.0, 501.0), 0.01), threshold(np.arange(1.0, 501.0), 0.001)
    (495.0, 500.0)
    """
    allowed = math.floor(share * len(null) + 1e-9)  # 0.01 * 300 is a little below 3
    return float(np.sort(null)[len(null) - 1 - allowed])


def _unmarked_strengths(unmarked: Sequence[JsonObject], scheme: str) -> Floats:
    if scheme == UNMARKED:
        return np.empty(0)
    return np.array([text["detections"][scheme]["strength"] for text in unmarked])


def _unmarked(texts: Sequence[JsonObject]) -> JsonObject:
    found = {}
    for scheme in texts[0]["detections"] if texts else ():
        strengths = _unmarked_strengths(texts, scheme)
        p_values = [text["detections"][scheme]["p_value"] for text in texts]
        found[scheme] = {
            "text_count": len(texts),
            "strength": _as_json(mean(strengths.tolist())),
            "above": {str(share): threshold(strengths, share) for share in FALSE_POSITIVE_RATES},
            "false_positives": _below(p_values),
        }
    return found


def _writing(texts: Sequence[JsonObject]) -> JsonObject:
    """Length, quality and cost of the texts of a cell."""
    groups = {text["first"]: text for text in texts}.values()
    return {
        "token_count": _mean_of(texts, "token_count"),
        "ended": _as_json(rate(sum(text["end"] == "end of text" for text in texts), len(texts))),
        "inconsistent": _as_json(rate(sum(not each["consistent"] for each in texts), len(texts))),
        "rollbacks": _mean_of(texts, "rollbacks"),
        "temporary": _mean_of(texts, "temporary"),
        "perplexity_written": _perplexity(texts, "nll", "token_count"),
        "cpu_seconds": _as_json(
            ratio([g["cpu_seconds"] for g in groups], [g["group_size"] for g in groups])
        ),
        **_reading(texts),
    }


def _passes(texts: Sequence[JsonObject]) -> JsonObject | None:
    """Forward passes per token that is kept, with those of texts that were given up."""
    passes = [text["forwards"] for text in texts]
    return _as_json(ratio(passes, [text["token_count"] for text in texts]))


def _is_given_up(text: JsonObject) -> bool:
    """Whether no attempt was consistent: of texts that may not end early, those are empty."""
    return not text["end_of_text"] and not text["token_count"]


def _reading(texts: Sequence[JsonObject]) -> JsonObject:
    """What is measured of attacked texts as well: they have no tokens that were written."""
    return {
        "text_count": len(texts),
        "perplexity": _perplexity(texts, "nll_read", "read_token_count"),
    }


def _change(after: Sequence[JsonObject]) -> JsonObject:
    """How much an attack changed; of paraphrases also how many were cut off."""
    found = {"changed": _as_json(mean([each["changed"] for each in after]))}
    known = [each["complete"] for each in after if "complete" in each]
    if known:
        found["cut_off"] = _as_json(rate(known.count(False), len(known)))
    return found


def _perplexity(texts: Sequence[JsonObject], nll: str, count: str) -> JsonObject | None:
    """Over all tokens of all texts whose likelihood is known."""
    known = [text for text in texts if text[nll] is not None]
    found = ratio([text[nll] for text in known], [text[count] for text in known]) if known else None
    if found is None:
        return None
    return {name: math.exp(value) for name, value in asdict(found).items()}


def _detection(found: Sequence[JsonObject], null: Floats) -> JsonObject:
    """Strength, and how well the texts are told apart from unmarked ones."""
    strengths = np.array([each["strength"] for each in found], dtype=np.float64)
    measures: JsonObject = {
        "strength": _as_json(mean(strengths.tolist())),
        "detected": _below([each["p_value"] for each in found]),
    }
    if "strength_of_written" in found[0]:
        measures["strength_of_written"] = _mean_of(found, "strength_of_written")
    if len(null):
        low, high = auroc_interval(strengths, null)
        measures["auroc"] = {"value": auroc(strengths, null), "low": low, "high": high}
        measures["true_positives"] = {
            str(share): _as_json(
                rate(int((strengths > threshold(null, share)).sum()), len(strengths))
            )
            for share in FALSE_POSITIVE_RATES
        }
    return measures


def _below(p_values: Sequence[float]) -> JsonObject:
    """The share of texts whose exact p-value is at most a false-positive rate, for each rate."""
    return {
        str(share): _as_json(rate(sum(p <= share for p in p_values), len(p_values)))
        for share in FALSE_POSITIVE_RATES
    }


def _time_ratio(texts: Sequence[JsonObject], cells: Cells) -> JsonObject | None:
    """The CPU time of a group, by that of the same group without rollback: the median."""
    plain = may_end(SAMPLING) if texts[0]["end_of_text"] else SAMPLING
    others = {row["first"]: row for row in cells.get((texts[0]["scheme"], plain.name), ())}
    groups = {row["first"]: row for row in texts}
    both = sorted(groups.keys() & others.keys())
    return _as_json(median([groups[n]["cpu_seconds"] / others[n]["cpu_seconds"] for n in both]))


def _mean_of(texts: Sequence[JsonObject], name: str) -> JsonObject | None:
    return _as_json(mean([text[name] for text in texts]))


def _as_json(found: Rate | None) -> JsonObject | None:
    return None if found is None else asdict(found)
