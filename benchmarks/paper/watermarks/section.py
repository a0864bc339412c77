"""What the page shows of watermarks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from benchmarks._harness.shown_rates import percent, plain
from benchmarks.paper.sections import PageFigure, PageTable, Section
from benchmarks.paper.stand_ins import StandIn
from ticore.evaluation.attacks import SYSTEM

from .arms import (
    ABLATED,
    ATTEMPTS,
    SAMPLING,
    SCHEMES,
    UNMARKED,
    Arm,
    arms_of,
    main_arms,
)
from .figure import draw_observations
from .paraphrasing import WARPER
from .samples import EPSILONS, LENGTH, attack_name

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

Summaries = Mapping[StandIn, "JsonObject"]
Column = tuple[str, Callable[["JsonObject"], str]]


def section(summaries: Summaries) -> Section:
    """Tables of each attack, of false positives and of the ablations, and a figure."""
    return Section(
        "Watermarks: strength, quality and robustness, with rollback and without",
        [
            f"Texts are sampled from the whole vocabulary at temperature 1. They have {LENGTH} "
            f"tokens and may not end before, since a strength grows with the length; the last "
            f"table is of texts that may. A text of an index has the same prompt, key and random "
            f"numbers in every arm. Detectors read the text alone, and count a token that repeats "
            f"a context and a token once.",
            "True-positive rates are shares of watermarked texts. Their thresholds come from "
            "unmarked texts of the same model, sampled without rollback; the intervals do not say "
            "how much the thresholds vary. Where a rate of 0.1 % is takes more than 1,000 unmarked "
            "texts to show: with fewer, the threshold there is the strongest of them, which about "
            "one further text in as many exceeds. The p-values are exact, so the columns beside "
            "hold at both rates. An AUROC's interval from 1 to 1 says that these texts are told "
            "apart, not that all are.",
            "Perplexity is the writer's own, after the prompt: of the tokens that were written, "
            "and of those that the text is read back as. In an inconsistent text the model never "
            "wrote the second ones, so they are mostly less probable; after rollback both are the "
            "same.",
            "Time is the CPU time of a batch of texts written side by side, by that of the same "
            "batch without rollback: the median over batches.",
            _detected(summaries),
            _written(summaries),
            *(_attacked(summaries, attack_name(epsilon)) for epsilon in EPSILONS),
            "An attack chooses each token with probability epsilon, from left to right, and "
            "replaces it by a sample of the same model after the prompt and the attacked text so "
            "far. The new token may be the old one.",
            *_paraphrased(summaries),
            _false_positives(summaries),
            f"The ablations are of {ABLATED}. Masking and q = 0 have the same distribution: both "
            f"sample among the tokens that keep the text consistent. They differ only where no "
            f'token does, which rollback takes back. Rollback of the whole text (rollback="exact") '
            f"begins an inconsistent text again: it alone has the distribution of texts without "
            f"rollback, among those that are consistent. It makes {ATTEMPTS} attempts at most; "
            f"texts that it gave up count in the passes per kept token and in the time, and "
            f"nowhere else.",
            _observations(summaries),
            PageFigure(
                "watermark-observation",
                f"What the observation period changes ({ABLATED}); dashed: without rollback",
                lambda: draw_observations(summaries),
            ),
            _ends(summaries),
        ],
    )


def _interval(name: str, digits: int = 2) -> Callable[[JsonObject], str]:
    return lambda cell: plain(cell.get(name), digits)


def _share(name: str, rate: str | None = None) -> Callable[[JsonObject], str]:
    def shown(cell: JsonObject) -> str:
        found = cell.get(name)
        return percent(found if rate is None or found is None else found[rate])

    return shown


_DETECTION: tuple[Column, ...] = (
    ("strength", _interval("strength")),
    ("AUROC", _interval("auroc", 4)),
    ("TPR at 1 %", _share("true_positives", "0.01")),
    ("p ≤ 1 %", _share("detected", "0.01")),
    ("TPR at 0.1 %", _share("true_positives", "0.001")),
    ("p ≤ 0.1 %", _share("detected", "0.001")),
)
_QUALITY: tuple[Column, ...] = (
    ("PPL as read", _interval("perplexity")),
    ("PPL as written", _interval("perplexity_written")),
    ("inconsistent texts, %", _share("inconsistent")),
)
_COST: tuple[Column, ...] = (
    ("rollbacks per text", _interval("rollbacks")),
    ("passes per kept token", _interval("forwards", 3)),
    ("time ratio", _interval("time", 3)),
)
_GIVEN_UP: Column = ("given up, %", _share("given_up"))


def _detected(summaries: Summaries) -> PageTable:
    written: Column = ("strength as written", _interval("strength_of_written"))
    columns = (_DETECTION[0], written, *_DETECTION[1:])
    return _table("Detection without an attack", summaries, tuple(SCHEMES), _main, None, columns)


def _written(summaries: Summaries) -> PageTable:
    columns = (*_QUALITY, *_COST)
    return _table("Quality and cost", summaries, (UNMARKED, *SCHEMES), _main, None, columns)


def _attacked(summaries: Summaries, attack: str) -> PageTable:
    columns = (*_DETECTION, _QUALITY[0], ("other tokens, %", _share("changed")))
    return _table(f"Detection after {attack}", summaries, tuple(SCHEMES), _main, attack, columns)


def _paraphrased(summaries: Summaries) -> Iterator[str | PageTable]:
    """A table for each model that paraphrased texts."""
    replacements = {attack_name(epsilon) for epsilon in EPSILONS}
    cells = [cell for found in summaries.values() for cell in found["cells"]]
    attacks = dict.fromkeys(cell["attack"] for cell in cells if cell["attack"] is not None)
    changed: tuple[Column, ...] = (
        ("other words, %", _share("changed")),
        ("cut off, %", _share("cut_off")),
    )
    columns = (*_DETECTION, _QUALITY[0], *changed)
    paraphrases = [attack for attack in attacks if attack not in replacements]
    for attack in paraphrases:
        title = f"Detection after {attack}"
        yield _table(title, summaries, tuple(SCHEMES), _main, attack, columns)
    if paraphrases:
        yield (
            f"A paraphrase answers this system message, which is ours and not the paper's: "
            f'"{SYSTEM}" A model here is sampled at temperature {WARPER.temperature:g} with top-p '
            f"{WARPER.top_p:g}. Texts that were not answered by a text are left out."
        )


def _observations(summaries: Summaries) -> PageTable:
    def shown(model: StandIn) -> list[Arm]:
        arms = arms_of(ABLATED, model.observation)
        return sorted(
            (arm for arm in arms if not arm.end_of_text),
            key=lambda arm: math.inf if arm.observation is None else arm.observation,
        )

    columns = (_DETECTION[0], _DETECTION[1], *_QUALITY, *_COST, _GIVEN_UP)
    return _table(
        "The observation period, masking, and rollback of whole texts",
        summaries,
        (ABLATED,),
        shown,
        None,
        columns,
    )


def _ends(summaries: Summaries) -> PageTable:
    def shown(model: StandIn) -> list[Arm]:
        main = main_arms(model.observation)
        return [*main, *(arm for arm in arms_of(ABLATED, model.observation) if arm.end_of_text)]

    length: tuple[Column, ...] = (
        ("tokens", _interval("token_count", 0)),
        ("ended, %", _share("ended")),
    )
    columns = (*length, _DETECTION[0], _DETECTION[1], *_QUALITY, *_COST)
    return _table("Texts that may end by themselves", summaries, (ABLATED,), shown, None, columns)


def _main(model: StandIn) -> Sequence[Arm]:
    return main_arms(model.observation)


def _table(
    title: str,
    summaries: Summaries,
    schemes: Sequence[str],
    arms: Callable[[StandIn], Sequence[Arm]],
    attack: str | None,
    columns: Sequence[Column],
) -> PageTable:
    """A row for each model, scheme and arm that has texts."""
    rows = []
    for model, found in summaries.items():
        cells = {(c["scheme"], c["arm"], c["attack"]): c for c in found["cells"]}
        for scheme in schemes:
            for arm in arms(model):
                if cell := cells.get((scheme, arm.name, attack)):
                    numbers = [shown(cell) for _, shown in columns]
                    rows.append([model.place, scheme, arm.name, str(cell["text_count"]), *numbers])
    headings = ["model", "scheme", "arm", "texts", *(heading for heading, _ in columns)]
    return PageTable(title, headings, rows, labels=3)


def _false_positives(summaries: Summaries) -> PageTable:
    return PageTable(
        f"Unmarked texts ({SAMPLING.name}): what a detector finds in them",
        [
            "model",
            "scheme",
            "texts",
            "strength",
            "p ≤ 1 %",
            "p ≤ 0.1 %",
            "threshold at 1 %",
            "0.1 %",
        ],
        list(_false_positive_rows(summaries)),
        labels=2,
    )


def _false_positive_rows(summaries: Summaries) -> Iterator[list[str]]:
    for model, found in summaries.items():
        for scheme, each in found["unmarked"].items():
            yield [
                model.place,
                scheme,
                str(each["text_count"]),
                plain(each["strength"]),
                *(percent(share) for share in each["false_positives"].values()),
                *(f"{strength:.2f}" for strength in each["above"].values()),
            ]
