"""Lengths of texts, and how well the sizes of messages are guessed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import ks_2samp, pearsonr

from benchmarks._harness.intervals import as_json, mean
from ticore.evaluation import rate

from .guessing import Guess, guess
from .plan import FREE, SENTENCE, WITH_MESSAGE

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

_QUANTILES = {"low": 0.05, "middle": 0.5, "high": 0.95}
_FEWEST = 4  # texts, below which a correlation has no interval


def summarize(texts: Sequence[JsonObject]) -> JsonObject:
    """What the place of the end says.

    Args:
        texts: see `plan.rows`.

    Returns:
        `free`: the texts without a message. `ended`, the share that the model ended before they
            were cut.
        `kinds`: for each ending and size: `tokens`, quantiles of the length; `at_sentence_end`, the
            share of texts that end with a sentence; `last_sentence`, its mean length in tokens;
            `differs`, the test of Kolmogorov and Smirnov that lengths are those of the free texts
            which the model ended, None without any; `sentences_differ`, the same of the last
            sentence and the sentences of free texts; `excess`, quantiles of the bits that all
            tokens can carry, less those that are hidden; `exact`, the share of texts whose
            message's size is guessed; `error`, the mean distance in bytes; `possible`, how many
            sizes are left on average; `within`, how often the right one is among them.
        `endings`: for each ending the same of all of its texts, and Pearson's correlation, with
            its interval, of the message's size with the guess (`correlation`) and with the number
            of tokens (`correlation_of_tokens`).
    """
    written = [text for text in texts if text["text"] is not None and text["surprisals"]]
    free = [text for text in written if text["ending"] == FREE]
    ended = [len(text["surprisals"]) for text in free if text["ended"]]
    sentences = [length for text in free for length in _sentences(text)]
    by_kind: dict[tuple[str, int], list[JsonObject]] = {}
    for text in written:
        by_kind.setdefault((text["ending"], text["size"]), []).append(text)
    return {
        "failures": len(texts) - len(written),
        "free": {"ended": as_json(rate(len(ended), len(free)) if free else None)},
        "kinds": [
            {"ending": ending, "size": size} | _kind(some, ended, sentences)
            for (ending, size), some in by_kind.items()
        ],
        "endings": [
            {"ending": ending} | _together(some)
            for ending in WITH_MESSAGE
            if (some := [text for text in written if text["ending"] == ending])
        ],
    }


def _kind(
    texts: Sequence[JsonObject], ended: Sequence[int], sentences: Sequence[int]
) -> JsonObject:
    lengths = [len(text["surprisals"]) for text in texts]
    last = [some[-1] for text in texts if (some := _sentences(text)) and _at_end(text)]
    found: JsonObject = {
        "texts": len(texts),
        "tokens": _quantiles(lengths),
        "at_sentence_end": as_json(rate(sum(map(_at_end, texts)), len(texts))),
    }
    if texts[0]["ending"] == FREE:
        return found | {"last_sentence": as_json(mean(sentences))}
    return found | {
        "last_sentence": as_json(mean(last)),
        "differs": _test(lengths, ended),
        "sentences_differ": _test(last, sentences) if texts[0]["ending"] == SENTENCE else None,
        "excess": _quantiles([sum(text["surprisals"]) - text["bits"] for text in texts]),
        **_guessed(texts),
    }


def _guessed(texts: Sequence[JsonObject]) -> JsonObject:
    guesses, sizes = _guesses(texts)
    pairs = list(zip(guesses, sizes, strict=True))
    return {
        "exact": as_json(rate(sum(g.best == size for g, size in pairs), len(pairs))),
        "error": as_json(mean([abs(g.best - size) for g, size in pairs])),
        "possible": as_json(mean([g.possible for g in guesses])),
        "within": as_json(rate(sum(g.least <= size <= g.most for g, size in pairs), len(pairs))),
    }


def _together(texts: Sequence[JsonObject]) -> JsonObject:
    guesses, sizes = _guesses(texts)
    lengths = [len(text["surprisals"]) for text in texts]
    return _guessed(texts) | {
        "texts": len(texts),
        "correlation": _correlation([g.best for g in guesses], sizes),
        "correlation_of_tokens": _correlation(lengths, sizes),
    }


def _guesses(texts: Sequence[JsonObject]) -> tuple[list[Guess], list[int]]:
    """The guess for each text, and what it should be: the bytes of the frame, or raw bytes."""
    guesses = [guess(t["ending"], t["surprisals"], t["sentence_ends"]) for t in texts]
    return guesses, [text["bits"] // 8 for text in texts]


def _sentences(text: JsonObject) -> list[int]:
    """The tokens of each sentence that ends in the text, without the one that the prompt began."""
    ends = text["sentence_ends"]
    return [end - begin for begin, end in pairwise(ends)]


def _at_end(text: JsonObject) -> bool:
    ends = text["sentence_ends"]
    return bool(ends) and ends[-1] == len(text["surprisals"]) - 1


def _quantiles(values: Sequence[float]) -> JsonObject:
    return {name: float(np.quantile(values, share)) for name, share in _QUANTILES.items()}


def _test(values: Sequence[float], others: Sequence[float]) -> JsonObject | None:
    if not values or not others:
        return None
    found = ks_2samp(values, others)
    return {"statistic": float(found.statistic), "p": float(found.pvalue)}


def _correlation(values: Sequence[float], sizes: Sequence[int]) -> JsonObject | None:
    """None where one of both is always the same, or there are too few texts for an interval."""
    if len(values) < _FEWEST or min(len(set(values)), len(set(sizes))) == 1:
        return None
    found = pearsonr(values, sizes)
    interval = found.confidence_interval(0.95)
    ends = {"low": float(interval.low), "high": float(interval.high)}
    return {"value": float(found.statistic)} | ends
