"""What the page shows of hidden messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from benchmarks._harness.number_format import decimal
from benchmarks._harness.shown_rates import bracketed, number, percent
from benchmarks.paper import published
from benchmarks.paper.published import BITS_PER_TOKEN
from benchmarks.paper.sections import PageFigure, PageTable, Section
from benchmarks.paper.stand_ins import StandIn

from .figures import draw_bits_per_token, draw_divergence
from .plan import BITS, CHECKSUM, LOOKAHEAD, NONE, SEARCH, STEPWISE, VIABLE
from .summary import FEW, PARTS

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

Summaries = Mapping[StandIn, "JsonObject"]

_MEASURES = (
    "texts",
    "bits per token",
    "PPL",
    "PPL as written",
    "KLD, nats",
    *(f"{part}, bits" for part in PARTS),
    "misread, %",
    "seconds",
)
_CLAIMED = {"ppl": "PPL", "kld": "KLD"}


def section(summaries: Summaries) -> Section:
    """Table 2 of the paper with ours, the paper's claims, and each number of candidates."""
    return Section(
        "Hidden messages: what each cure of inconsistency carries, changes and costs",
        [
            f"Each text hides {BITS} random bits by arithmetic coding with the paper's stop, at "
            f"temperature 1. PPL is the model's perplexity on the whole text as it is read back, "
            f"with its prompt; PPL as written is that of the tokens that were chosen. KLD is what "
            f"the authors' program computes: -ln of the probability of the tokens that the codec "
            f"chooses from, in nats per token. In bits per token it is the sum of truncation (the "
            f"candidates) and filter (the method); codec is what the codec adds. What the paper's "
            f"stop adds at the end of a text is in none of these. Seconds are of writing and "
            f"reading a text; texts are processed side by side, and the paper's one by one.",
            f"Later than the paper are {VIABLE!r}, stepwise verification that keeps each token "
            f"after which some text is consistent; {LOOKAHEAD!r}, whose steps are not tokens, so "
            f"that most of its divergence is not known; and {SEARCH!r}, whose reader looks for the "
            f"tokens: {CHECKSUM} of its {BITS} bits are a checksum, and a text that its writer's "
            f"own search cannot read is not sent. Both read text by text, so they take longer.",
            *_claims(summaries),
            *_groups(summaries),
            PageFigure(
                "messages-bits-per-token",
                "Bits per token by number of candidates (k)",
                lambda: draw_bits_per_token(summaries),
            ),
            PageFigure(
                "messages-divergence",
                "Divergence by number of candidates (k), in its three parts",
                lambda: draw_divergence(summaries),
            ),
            _misread_without_cure(summaries),
            _errors(summaries),
            _misread_with_cure(summaries),
            *_cells(summaries),
        ],
    )


def _claims(summaries: Summaries) -> Iterator[str]:
    """One sentence about each claim."""
    for measure, theirs in published.STEPWISE_CHANGE_PERCENT.items():
        here = "; ".join(
            f"with {model.place} {_change(found['changes'][measure])}"
            for model, found in summaries.items()
        )
        yield (
            f"{_CLAIMED[measure]} with stepwise verification, against the best rival of each group "
            f"by bits per token: {theirs:+g} % in the paper; {here}."
        )


def _change(change: JsonObject | None) -> str:
    """A change in percent with its interval, and what it says about the claim of less."""
    if change is None:
        return "there are too few texts to tell"
    value, low, high = (f"{100 * change[name]:+.1f}" for name in ("value", "low", "high"))
    verdict = "does not show which is less"
    if change["high"] < 0:
        verdict = "agrees that it is less"
    elif change["low"] > 0:
        verdict = "contradicts that it is less"
    return f"{value} % ({low} to {high}), which {verdict}"


def _groups(summaries: Summaries) -> Iterator[PageTable]:
    for model, found in summaries.items():
        rows = [
            [_range(group["bpt_from"]), group["method"], *_numbers(group, model)]
            for group in found["groups"]
        ]
        yield PageTable(
            f"{model.place} ({model.role}): texts by bits per token, groups of more than {FEW}; "
            f"the paper's stepwise verification in brackets",
            ["BPT", "method", *_MEASURES],
            rows,
            labels=2,
        )


def _range(low: int) -> str:
    return f"{low} to {low + 1}"


def _cells(summaries: Summaries) -> Iterator[PageTable]:
    for model, found in summaries.items():
        rows = [
            [f"{cell['k']:,}", cell["method"], *_numbers(cell, model)]
            for cell in sorted(found["cells"], key=lambda cell: int(cell["k"]))
        ]
        yield PageTable(
            f"{model.place} ({model.role}): texts by number of candidates (95 % intervals)",
            ["k", "method", *_MEASURES],
            rows,
            labels=2,
        )


def _numbers(cell: JsonObject, model: StandIn) -> list[str]:
    """The columns of `_MEASURES`."""
    count = f"{cell['text_count'] - cell['failure_count']:,}"
    if "bpt" not in cell:
        return [count, *("-" for _ in _MEASURES[1:])]
    theirs = _theirs(cell, model)
    return [
        count,
        number(cell["bpt"]),
        number(cell["ppl"], theirs.get("ppl")),
        number(cell["ppl_written"]),
        number(cell["kld"], theirs.get("kld")),
        *(number(cell["kl"][part]) for part in PARTS),
        percent(cell["misread"]),
        decimal(cell["seconds"]) + bracketed(theirs.get("seconds")),
    ]


def _theirs(cell: JsonObject, model: StandIn) -> Mapping[str, float]:
    """The paper's numbers for a group by bits per token, by measure."""
    if cell["method"] != STEPWISE or "bpt_from" not in cell:
        return {}
    tables = {
        "ppl": published.STEPWISE_PERPLEXITY,
        "kld": published.STEPWISE_DIVERGENCE,
        "seconds": published.STEPWISE_SECONDS,
    }
    n = BITS_PER_TOKEN.index(cell["bpt_from"])
    return {name: table[model.role][n] for name, table in tables.items() if model.role in table}


def _misread_without_cure(summaries: Summaries) -> PageTable:
    by_model = [
        {cell["k"]: cell.get("misread") for cell in found["cells"] if cell["method"] == NONE}
        for found in summaries.values()
    ]
    candidates = sorted({k for cells in by_model for k in cells})
    rows = [[f"{k:,}", *(percent(cells.get(k)) for cells in by_model)] for k in candidates]
    return PageTable(
        "Texts that are misread without a cure, % (95 % interval)",
        ["k", *_headings(summaries)],
        rows,
    )


def _errors(summaries: Summaries) -> PageTable:
    counts = [_error_counts(found, cured=False) for found in summaries.values()]
    names = sorted({name for each in counts for name in each})
    rows = [[name, *(f"{each[name]:,}" for each in counts)] for name in names]
    return PageTable(
        "How texts without a cure are misread, number of texts",
        ["what is read", *_headings(summaries)],
        rows,
    )


def _misread_with_cure(summaries: Summaries) -> str:
    cells = [
        cell for found in summaries.values() for cell in found["cells"] if cell["method"] != NONE
    ]
    misread = sum(_error_counts(found, cured=True).total() for found in summaries.values())
    written = sum(cell["text_count"] - cell["failure_count"] for cell in cells)
    failed = sum(cell["failure_count"] for cell in cells)
    return (
        f"With a cure, {misread:,} of {written:,} texts are misread; "
        f"{failed:,} more could not be written."
    )


def _error_counts(found: JsonObject, *, cured: bool) -> Counter[str]:
    """How often each error occurred with a cure, or without one."""
    total: Counter[str] = Counter()
    for cell in found["cells"]:
        if (cell["method"] != NONE) == cured:
            total.update(cell.get("errors", {}))
    return total


def _headings(summaries: Summaries) -> list[str]:
    return [f"{model.place} ({model.role})" for model in summaries]
