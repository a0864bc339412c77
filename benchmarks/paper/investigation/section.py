"""What the page shows of the investigation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchmarks._harness.shown_rates import beside, percent
from benchmarks._harness.style import LINE_STYLES, clear_frame, new_figure
from benchmarks.paper import published
from benchmarks.paper.sections import PageFigure, PageTable, Section
from benchmarks.paper.stand_ins import StandIn

from .plan import CANDIDATES, LENGTHS, SHORT
from .summary import NEVER

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

Summaries = Mapping[StandIn, "JsonObject"]
_TIMES_SHOWN = 4


def section(summaries: Summaries) -> Section:
    """Table 1 of the paper with ours, the times until inconsistencies are gone, and examples."""
    return Section(
        "How often tokens are inconsistent, and for how long",
        [
            f"Texts are sampled from the whole vocabulary at temperature 1. Candidates are the "
            f"{CANDIDATES} likeliest tokens at each step that begins with a consistent text. "
            f"Inconsistencies are followed over the first {SHORT} tokens of a text.",
            _texts(summaries),
            PageFigure(
                "inconsistent-texts",
                "Inconsistent texts by length: ours with 95 % intervals, the paper's dashed",
                lambda: _draw(summaries),
            ),
            _tokens(summaries),
            _healing(summaries),
            _predictions(summaries),
            *_examples(summaries),
        ],
    )


def _texts(summaries: Summaries) -> PageTable:
    headings = ["tokens", *_headings(summaries)]
    rows = [
        [
            str(length),
            *(
                beside(found["text"][str(length)], published.TEXT_PERCENT[model.role].get(length))
                for model, found in summaries.items()
            ),
        ]
        for length in LENGTHS
    ]
    return PageTable(
        "Inconsistent texts, % (95 % interval); the paper's in brackets", headings, rows
    )


def _tokens(summaries: Summaries) -> PageTable:
    def row(label: str, found: Sequence[str]) -> list[str]:
        return [label, *found]

    models = list(summaries.items())
    rows = [
        row(
            f"inconsistent tokens at {length}",
            [
                beside(found["token"][str(length)], published.TOKEN_PERCENT[m.role].get(length))
                for m, found in models
            ],
        )
        for length in LENGTHS
    ]
    shares = {
        "candidates, by number": ("candidate_number", published.CANDIDATE_NUMBER_PERCENT),
        "candidates, by probability": (
            "candidate_probability",
            published.CANDIDATE_PROBABILITY_PERCENT,
        ),
        "chosen, and gone in the end": ("temporary", published.TEMPORARY_PERCENT),
    }
    rows += [
        row(label, [beside(found[name], theirs[m.role]) for m, found in models])
        for label, (name, theirs) in shares.items()
    ]
    return PageTable(
        "Inconsistent tokens and candidates, %", ["share", *_headings(summaries)], rows
    )


def _healing(summaries: Summaries) -> PageTable:
    times = [*map(str, range(1, _TIMES_SHOWN + 1)), NEVER]
    rows = []
    for time in times:
        key = None if time == NEVER else int(time)
        rows.append(
            [
                time,
                *(
                    beside(found["healed"].get(time), published.HEALED_PERCENT[model.role].get(key))
                    for model, found in summaries.items()
                ),
            ]
        )
    counts = [f"{found['followed_count']:,}" for found in summaries.values()]
    rows.append(["inconsistencies followed", *counts])
    return PageTable(
        "Further tokens until an inconsistency is gone, % of inconsistencies",
        ["tokens", *_headings(summaries)],
        rows,
    )


def _predictions(summaries: Summaries) -> PageTable:
    labels = {
        "total variation": "total_variation",
        "divergence, bits": "kl",
    }
    rows = [
        [
            label,
            *(
                "" if (value := found["prediction"][name]) is None else f"{value['value']:.2f}"
                for found in summaries.values()
            ),
        ]
        for label, name in labels.items()
    ]
    other = [percent(found["prediction"]["other_likeliest"]) for found in summaries.values()]
    rows.append(["another likeliest token, %", *other])
    return PageTable(
        "The next token's probabilities after the tokens that are read, against those written",
        ["mean over the first inconsistency of each text", *_headings(summaries)],
        rows,
    )


def _examples(summaries: Summaries) -> Iterator[PageTable]:
    for model, found in summaries.items():
        rows = [
            [kind, " | ".join(each["written"]), " | ".join(each["read"]), _likeliest(each)]
            for kind, examples in found["examples"].items()
            for each in examples
        ]
        if rows:
            yield PageTable(
                f"Examples of {model.place}: what was written, what is read",
                ["SITs and CITs", "written", "read", "likeliest next token"],
                rows,
                labels=4,
            )


def _likeliest(example: JsonObject) -> str:
    if (prediction := example["prediction"]) is None:
        return ""
    return " → ".join(
        f"{best['token']!r} {best['probability']:.2f}" for best in prediction["likeliest"]
    )


def _headings(summaries: Summaries) -> list[str]:
    return [f"{model.place} ({model.role})" for model in summaries]


def _draw(summaries: Summaries) -> Any:
    figure = new_figure(7, 4)
    axes = figure.subplots()
    for (model, found), (colour, marker) in zip(summaries.items(), LINE_STYLES, strict=False):
        shares = [found["text"][str(length)] for length in LENGTHS]
        values = [100 * each["value"] for each in shares]
        ends = [
            [100 * (each["value"] - each["low"]) for each in shares],
            [100 * (each["high"] - each["value"]) for each in shares],
        ]
        axes.errorbar(
            LENGTHS, values, ends, color=colour, marker=marker, capsize=3, label=model.place
        )
    for (role, theirs), (colour, _) in zip(
        published.TEXT_PERCENT.items(), LINE_STYLES[::-1], strict=False
    ):
        axes.plot(
            list(theirs),
            list(theirs.values()),
            color=colour,
            linestyle="--",
            label=f"{role}, paper",
        )
    axes.set_xscale("log", base=2)
    axes.set_xticks(LENGTHS, [str(length) for length in LENGTHS])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("tokens")
    axes.set_ylabel("texts read as other tokens, %")
    clear_frame(axes)
    axes.legend(frameon=False, fontsize=9)
    return figure
