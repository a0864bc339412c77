"""What the page shows of tokens of small probability."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from benchmarks._harness.shown_rates import percent
from benchmarks.paper.sections import PageTable, Section
from benchmarks.paper.stand_ins import StandIn

from .comparison import HEADINGS, cells, verdict
from .looking import comparisons

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject


def section(summaries: Mapping[StandIn, JsonObject]) -> Section:
    """Found by expected, against the whole model and against the candidates."""
    blocks: list[str | PageTable] = [
        "Codecs of finite precision may never write the tokens whose probability is tiny, and "
        "truncation to k candidates never does. The tables show how many tokens below a "
        "probability there are, by how many the model's own distribution lets expect at those very "
        "steps: 1 is what free sampling gives. The number expected is a sum of exact "
        "probabilities, so only the number found is subject to chance; its intervals are those of "
        "a Poisson number, exact or a little too wide.",
        "Texts are looked at as they are read back. In an inconsistent text other tokens are read "
        "than were written, mostly improbable ones. So the row of covers, which are free samples, "
        "shows what rereading alone does, and texts of the method none stand against that row. "
        "Texts of stepwise verification are read as they were written.",
    ]
    for model, found in summaries.items():
        blocks += [_whole(model, found), _pool(model, found)]
        for reference, name in (("whole", "the whole vocabulary"), ("pool", "the candidates")):
            differing = verdict(
                comparisons((k for k in found["kinds"] if k["k"] is not None), reference)
            )
            blocks.append(f"{model.place}, comparisons with {name}: {differing}.")
    return Section("Do texts with a message have the tokens of small probability?", blocks)


def _whole(model: StandIn, found: JsonObject) -> PageTable:
    rows = [
        [kind["method"], _candidates(kind), f"{kind['tokens']:,}", *cells(kind["whole"])]
        for kind in found["kinds"]
    ]
    return PageTable(
        f"{model.place}: found by expected, under the whole vocabulary, as covers are sampled",
        ["method", "k", "tokens", *HEADINGS],
        rows,
    )


def _pool(model: StandIn, found: JsonObject) -> PageTable:
    rows = [
        [kind["method"], _candidates(kind), percent(kind["outside"]), *cells(kind["pool"])]
        for kind in found["kinds"]
        if kind["k"] is not None
    ]
    return PageTable(
        f"{model.place}: found by expected, under the k candidates that tokens were chosen from",
        ["method", "k", "no candidates, %", *HEADINGS],
        rows,
    )


def _candidates(kind: JsonObject) -> str:
    return "" if kind["k"] is None else f"{kind['k']:,}"
