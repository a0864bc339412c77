"""What the page shows of the places where texts end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from benchmarks._harness.number_format import decimal
from benchmarks._harness.shown_rates import number, percent, plain, texts
from benchmarks.paper.sections import PageTable, Section
from benchmarks.paper.stand_ins import StandIn

from .guessing import SLACK
from .plan import CANDIDATES, FREE, LONGEST

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

Summaries = Mapping[StandIn, "JsonObject"]

_STRONG = 0.5
"""A correlation above which a guess is worth more than nothing in nearly every text."""


def section(summaries: Summaries) -> Section:
    """What an observer guesses, and the lengths themselves."""
    blocks: list[str | PageTable] = [
        f"An observer has the text, the model, the prompt and the settings (k = {CANDIDATES}), "
        f"but no key. It adds up how many bits the tokens can carry, and knows that the message "
        f"ended at the last token (the paper's stop; finish none), within the last sentence "
        f"(finish sentence), or within one of the last sentences, each half as likely as the one "
        f"after it (finish sentences, with frames of a few sizes: the default). Messages are "
        f"random bytes, which do not compress. Without padding a sealed message has 21 bytes "
        f"more than the message; the paper's bits have no frame. Sizes that are possible lie "
        f"within {SLACK:g} bits of that sum.",
        *(_statement(model, found) for model, found in summaries.items()),
        _guesses_together(summaries),
        *(_guesses(model, found) for model, found in summaries.items()),
        f"Lengths are compared with free texts of the same choices, which end where the model "
        f"would end them and are cut after {LONGEST} tokens. D is the greatest distance of the "
        f"two distributions, with the p-value of Kolmogorov and Smirnov. A longer sentence is more "
        f"likely to be the one in which a message ends, so the last sentence tends to be longer "
        f"than others.",
        *(_lengths(model, found) for model, found in summaries.items()),
    ]
    return Section("Does the end of a text give away the length of its message?", blocks)


def _statement(model: StandIn, found: JsonObject) -> str:
    parts = [
        f"with {each['ending']}, {_verdict(each['correlation'])}: {percent(each['exact'])} % of "
        f"the sizes are guessed to the byte, and {decimal(each['possible']['value'])} sizes are "
        f"possible on average"
        for each in found["endings"]
    ]
    ended = found["free"]["ended"]
    free = "" if ended is None else f" The model ends {percent(ended)} % of free texts by itself."
    if ended is not None and not ended["value"]:
        free += (
            " So their lengths are those of the cut, and no text's length is compared with them."
        )
    failures = f" {texts(found['failures'])} could not be written." if found["failures"] else ""
    return f"{model.place}: {'; '.join(parts)}.{free}{failures}"


def _verdict(correlation: JsonObject | None) -> str:
    """What the correlation of guess and size shows."""
    if correlation is None:
        return "there are too few texts to tell"
    if correlation["low"] > _STRONG:
        return "the end gives the length away"
    if correlation["low"] > 0:
        return "the end says something about the length"
    return "the end does not show the length"


def _guesses_together(summaries: Summaries) -> PageTable:
    rows = [
        [
            model.place,
            each["ending"],
            f"{each['texts']:,}",
            plain(each["correlation"], 3),
            plain(each["correlation_of_tokens"], 3),
            percent(each["exact"]),
        ]
        for model, found in summaries.items()
        for each in found["endings"]
    ]
    headings = ["texts", "r of the guess", "r of the number of tokens", "guessed exactly, %"]
    return PageTable(
        "Messages of all sizes: correlation of their size with the observer's guess",
        ["model", "ending", *headings],
        rows,
        labels=2,
    )


def _guesses(model: StandIn, found: JsonObject) -> PageTable:
    rows = [
        [
            kind["ending"],
            str(kind["size"]),
            f"{kind['texts']:,}",
            _range(kind["excess"]),
            percent(kind["exact"]),
            number(kind["error"]),
            number(kind["possible"]),
            percent(kind["within"]),
        ]
        for kind in found["kinds"]
        if kind["ending"] != FREE
    ]
    headings = [
        "texts",
        "bits beyond the message (5 to 95 %)",
        "guessed exactly, %",
        "error, bytes",
        "possible sizes",
        "right one among them, %",
    ]
    return PageTable(
        f"{model.place}: guessing the size of a message", ["ending", "bytes", *headings], rows
    )


def _lengths(model: StandIn, found: JsonObject) -> PageTable:
    return PageTable(
        f"{model.place}: lengths of texts",
        [
            "ending",
            "bytes",
            "tokens (5 to 95 %)",
            "D to free texts",
            "end with a sentence, %",
            "tokens of the last sentence",
            "D to free sentences",
        ],
        list(_length_rows(found)),
    )


def _length_rows(found: JsonObject) -> Iterator[list[str]]:
    for kind in found["kinds"]:
        yield [
            kind["ending"],
            str(kind["size"]) if kind["size"] else "",
            _range(kind["tokens"]),
            _distance(kind.get("differs")),
            percent(kind["at_sentence_end"]),
            number(kind["last_sentence"]),
            _distance(kind.get("sentences_differ")),
        ]


def _range(quantiles: JsonObject) -> str:
    middle, low, high = (decimal(quantiles[name]) for name in ("middle", "low", "high"))
    return f"{middle} ({low} to {high})"


def _distance(test: JsonObject | None) -> str:
    return "-" if test is None else f"{test['statistic']:.2f} (p = {test['p']:.2g})"
