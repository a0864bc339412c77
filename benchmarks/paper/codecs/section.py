"""What the page shows of codecs and precisions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from benchmarks._harness.number_format import decimal
from benchmarks._harness.shown_rates import texts
from benchmarks.paper.low_probability.comparison import HEADINGS, cells, expectation, verdict
from benchmarks.paper.sections import PageTable, Section
from benchmarks.paper.stand_ins import StandIn

from .plan import BITS

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

Columns = Callable[["JsonObject"], Iterable[str]]


def section(summaries: Mapping[StandIn, JsonObject]) -> Section:
    """What is found of what is expected, and what each codec gives."""
    blocks: list[str | PageTable] = [
        f"Each text hides {BITS} random bits, with stepwise verification, and is watched while it "
        f"is written. Improbable tokens are counted under what the codec was given to choose from, "
        f"so a ratio other than 1 is the codec's own doing, or that of the integer weights, which "
        f"give each token at least 1 of 2^(weight bits).",
        "The tables of masses need no sampling: they compare the distribution that the codec "
        "emits with the whole model's at the same steps. 0 is a probability that is never "
        "written; above 1 is one that is written too often.",
    ]
    for model, found in summaries.items():
        kinds = [kind for kind in found["kinds"] if kind["texts"]]
        blocks += [
            _table(
                f"{model.place}: found by expected, under what the codec chooses from",
                kinds,
                lambda kind: cells(kind["choices"]),
            ),
            _table(
                f"{model.place}: mass emitted, by that of the whole model",
                kinds,
                lambda kind: map(_plain, kind["given"]),
            ),
            _table(
                f"{model.place}: number of improbable tokens to be expected of the whole model",
                kinds,
                lambda kind: expectation(kind["whole"]),
            ),
        ]
        said = [each for kind in kinds for each in kind["choices"] if each["ratio"] is not None]
        failures = sum(kind["failures"] for kind in found["kinds"])
        blocks.append(
            f"{model.place}, comparisons with what the codec chooses from: {verdict(said)}. "
            f"{texts(failures)} could not be written."
        )
    return Section("Improbable tokens by codec and precision", blocks)


def _table(title: str, kinds: Iterable[JsonObject], columns: Columns) -> PageTable:
    rows = [
        [
            kind["codec"],
            "all" if kind["k"] is None else f"{kind['k']:,}",
            str(kind["weight_bits"]),
            f"{kind['tokens']:,}",
            *columns(kind),
        ]
        for kind in kinds
    ]
    return PageTable(title, ["codec", "k", "weight bits", "tokens", *HEADINGS], rows)


def _plain(ratio: float | None) -> str:
    return "-" if ratio is None else decimal(ratio)
