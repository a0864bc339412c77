"""What the page shows of the detectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from benchmarks._harness.shown_rates import percent
from benchmarks._harness.text_statistics import RARE
from benchmarks.paper.sections import PageTable, Section
from benchmarks.paper.stand_ins import StandIn

from .texts import BEGINNING
from .trials import FEWEST

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

Summaries = Mapping[StandIn, "JsonObject"]


def section(summaries: Summaries) -> Section:
    """Accuracies, pooled and alone, and the shares of improbable tokens."""
    blocks: list[str | PageTable] = [
        "Covers are free samples of the same model after the same prompts, 10 to 128 tokens long. "
        "A fifth of the texts is held out. Covers count as much as texts with a message, so 50 % "
        "is chance.",
        "Where a text ends gives it away, whatever the method: it ends as soon as it carries its "
        "128 bits, and covers have any length. So detectors also see no more of each text than "
        f"its first {BEGINNING} tokens, which tell nothing of its end. {_short(summaries)}",
        "Those that learn from all texts together learn from as many with a message as there are "
        "covers, chosen by chance.",
        f"Detectors learn from one kind of texts alone where at least {FEWEST} are held out.",
    ]
    for model, found in summaries.items():
        for seen, part in (("whole texts", "whole"), ("first tokens", "beginnings")):
            for learned, entries in (
                ("learned from all texts together", found[part]["pooled"]),
                ("learned from one kind of texts", found[part]["alone"]),
            ):
                title = f"{model.place}: accuracy, %, {seen}, of detectors that {learned}"
                if len({entry["k"] for entry in entries if entry["k"]}) > 1:
                    blocks.append(_means(f"{title}; of a method the mean over k", entries))
                if entries:
                    blocks.append(_accuracies(title, entries))
        blocks.append(_rare(model, found["rare"]))
    return Section("Can texts with a message be told from others?", blocks)


def _short(summaries: Summaries) -> str:
    """How many texts have no such beginning, so that they are left out."""
    found = {model.place: each["short_count"] for model, each in summaries.items()}
    counts = ", ".join(f"{count:,} of {place}" for place, count in found.items() if count)
    if not counts:
        return "All texts have as many, so what is found there is the method's."
    return (
        f"Texts with fewer are left out ({counts}); as long as they are few, what is found there "
        f"is the method's."
    )


def _means(title: str, entries: Sequence[JsonObject]) -> PageTable:
    """Of each method, without intervals: the texts of each k are tested beside the same covers.

    A detector that an interrupted run has tried with some k alone has no mean.
    """
    detectors = list(dict.fromkeys(entry["detector"] for entry in entries))
    together = {entry["detector"]: entry["accuracy"] for entry in entries if not entry["k"]}
    found = dict[str, dict[str, list[float]]]()
    for entry in entries:
        if entry["k"]:
            of_method = found.setdefault(entry["method"], {})
            of_method.setdefault(entry["detector"], []).append(entry["accuracy"]["value"])
    rows = list[list[str]]()
    for method, each in found.items():
        tried = max(map(len, each.values()))
        values = [each.get(name, []) for name in detectors]
        means = [f"{100 * fmean(some):.1f}" if len(some) == tried else "-" for some in values]
        rows.append([method, *means])
    if together:
        rows.insert(0, ["all", *(percent(together.get(name)) for name in detectors)])
    return PageTable(title, ["method", *detectors], rows)


def _accuracies(title: str, entries: Sequence[JsonObject]) -> PageTable:
    detectors = list(dict.fromkeys(entry["detector"] for entry in entries))
    cells = {(e["method"], e["k"], e["detector"]): e["accuracy"] for e in entries}
    kinds = list(dict.fromkeys((entry["method"], entry["k"]) for entry in entries))
    rows = [
        [
            method,
            f"{k:,}" if k else "",
            *(percent(cells.get((method, k, name))) for name in detectors),
        ]
        for method, k in kinds
    ]
    return PageTable(title, ["method", "k", *detectors], rows)


def _rare(model: StandIn, entries: Sequence[JsonObject]) -> PageTable:
    return PageTable(
        f"{model.place}: tokens of small probability, %; a cut or coarse distribution has fewer",
        ["method", "k", *(f"below {bound:g}" for bound in RARE)],
        list(_rare_rows(entries)),
    )


def _rare_rows(entries: Sequence[JsonObject]) -> Iterator[list[str]]:
    for entry in entries:
        k = f"{entry['k']:,}" if "k" in entry else ""
        shares = (percent(entry[f"rarer_than_{bound:g}"]) for bound in RARE)
        yield [entry.get("method", "covers"), k, *shares]
