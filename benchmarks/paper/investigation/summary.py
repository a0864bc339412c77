"""The rates of one model, each with its interval of 95 %."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from benchmarks._harness.intervals import as_json, mean, ratio
from ticore.evaluation import rate

from .plan import LENGTHS, SHORT

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

EXAMPLES = 3
"""How many examples of each kind are kept."""

FEWEST_TIMES = 4
"""Up to which number of further tokens shares are given, even where none is above 0."""

NEVER = "never"


def summarize(texts: Sequence[JsonObject]) -> JsonObject:
    """The rates of one model's texts. Shares are between 0 and 1."""
    times = Counter(time for text in texts for time in healing_times(text["consistent"][:SHORT]))
    followed = sum(times.values())
    longest = max([FEWEST_TIMES, *(each for each in times if each is not None)])
    return {
        "text_count": len(texts),
        "text": {str(n): _rate(_inconsistent(texts, n), len(texts)) for n in LENGTHS},
        "token": {str(n): _token_share(texts, n) for n in LENGTHS},
        "candidate_number": _per_step(texts, "candidate_number"),
        "candidate_probability": _per_step(texts, "candidate_probability"),
        "followed_count": followed,
        "temporary": _rate(followed - times[None], followed),
        "healed": {str(n): _rate(times[n], followed) for n in range(1, longest + 1)}
        | {NEVER: _rate(times[None], followed)},
        "prediction": _predictions(texts),
        "examples": _examples(texts),
    }


def healing_times(consistent: str) -> Iterator[int | None]:
    """After how many further tokens each inconsistency of a text is gone; None: never.

    Args:
        consistent: for each token `1` if the text up to it is consistent, or `0`. Before the first
            token it is.

    >>> list(healing_times("1101001100"))
    [1, 2, None]
    """
    begun: int | None = None
    for n, state in enumerate(consistent):
        if state == "0" and begun is None:
            begun = n
        elif state == "1" and begun is not None:
            yield n - begun
            begun = None
    if begun is not None:
        yield None


def _inconsistent(texts: Sequence[JsonObject], length: int) -> int:
    return sum(not text["lengths"][str(length)]["consistent"] for text in texts)


def _token_share(texts: Sequence[JsonObject], length: int) -> JsonObject | None:
    found = [text["lengths"][str(length)] for text in texts]
    parts = [each["sits"] + each["cits"] for each in found]
    return as_json(ratio(parts, [each["written"] + each["read"] for each in found]))


def _per_step(texts: Sequence[JsonObject], name: str) -> JsonObject | None:
    return as_json(ratio([text[name] for text in texts], [text["steps"] for text in texts]))


def _predictions(texts: Sequence[JsonObject]) -> JsonObject:
    """What the first inconsistency of a text does to the probabilities of the next token."""
    found = [
        text["example"]["prediction"]
        for text in texts
        if text["example"] and text["example"]["prediction"]
    ]
    other = sum(len({best["token"] for best in each["likeliest"]}) > 1 for each in found)
    return {
        "total_variation": as_json(mean([each["total_variation"] for each in found])),
        "kl": as_json(mean([each["kl"] for each in found])),
        "other_likeliest": _rate(other, len(found)),
    }


def _examples(texts: Sequence[JsonObject]) -> JsonObject:
    """A few inconsistencies of each kind, the first that were found."""
    kinds: dict[str, list[JsonObject]] = {"both": [], "no SIT": [], "no CIT": [], "neither": []}
    for text in texts:
        if (example := text["example"]) is not None:
            here = kinds[_kind(example)]
            if len(here) < EXAMPLES:
                here.append({"index": text["index"]} | example)
    return kinds


def _kind(example: JsonObject) -> str:
    if example["sits"] and example["cits"]:
        return "both"
    if example["sits"]:
        return "no CIT"
    return "no SIT" if example["cits"] else "neither"


def _rate(events: int, trials: int) -> JsonObject | None:
    return as_json(rate(events, trials) if trials else None)
