"""The soak test: the table engine compared with the definition, on as many answers as wanted."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import count

from rich.table import Table

import ticore
from benchmarks._harness.code_digest import code_digest
from benchmarks._harness.corpora import load_corpora
from benchmarks._harness.progress import messages, progress_bar
from benchmarks._harness.report import new_report, results
from benchmarks._harness.sample_store import SampleStore, digest_of
from benchmarks._harness.tables import text_table
from benchmarks._harness.types import JsonObject, Sample
from ticore.consistency import Mode, Verifier

from .modes import modes_to_check
from .per_tokenizer import finish
from .soak_cases import CasePlayer
from .tokenizer_sources import TokenizerSource, tokenizer_sources

_COUNTS = ("checks", "admitted", "lists", "unchecked", "mismatches")


def run(options: argparse.Namespace) -> int:
    """Play cases with all tokenizers and modes.

    Returns:
        The exit status: 1 where an answer was wrong.
    """
    texts = list(load_corpora(options.texts, options.data).values())
    texts_digest = digest_of(texts)
    modes = modes_to_check(options.mode)
    sources = tokenizer_sources(options.tokenizer, options.data, crossed=True)
    share = -(-options.soak // (len(sources) * len(modes)))
    store = SampleStore(options.out)
    cases: list[Sample] = []
    report = new_report({"seed": options.seed, "checks": options.soak}, complete=False)
    report |= {"cases": cases, "skipped": {}}
    try:
        with progress_bar(share * len(sources) * len(modes)) as advance:
            for kind, verifier in _verifiers(sources, modes, report["skipped"]):
                tokenizer, mode = verifier.tokenizer, verifier.mode
                code = code_digest(CasePlayer, tokenizer)
                digest = digest_of(options.seed, mode, tokenizer.digest(), texts_digest, code)
                prefix = f"{options.seed} {tokenizer.digest()} {mode}"
                player = CasePlayer(verifier, texts)
                for case in play_cases(store, digest, player, prefix, share):
                    cases.append(kind | case)
                    advance(case["checks"], f"{kind['tokenizer']} {mode}")
                    for example in case["examples"]:
                        results.print(mismatch_text(cases[-1], example), markup=False)
        report["complete"] = True
    except KeyboardInterrupt:
        messages.print("interrupted; the same command continues from here")
    status = finish(options, report, cases, soak_tables(cases))
    return 1 if any(case["mismatches"] for case in cases) else status


def _verifiers(
    sources: Sequence[TokenizerSource], modes: Sequence[Mode], skipped: JsonObject
) -> Iterator[tuple[JsonObject, Verifier]]:
    """Verifiers with a table engine, and the fields of their cases.

    Args:
        sources: of tokenizers.
        modes: of Verifiers.
        skipped: gets the reasons why some cannot be made.
    """
    for source in sources:
        try:
            tokenizer = source.open()
        except ticore.TicoreError as error:
            skipped[source.name] = str(error)
            continue
        for mode in modes:
            try:
                verifier = Verifier(tokenizer, mode=mode, method="table")
            except ticore.TicoreError as error:
                skipped[f"{source.name} {mode}"] = str(error)
                continue
            yield {"tokenizer": source.name, "mode": mode, "place": source.place}, verifier


def play_cases(
    store: SampleStore, digest: str, player: CasePlayer, prefix: str, checks: int
) -> Iterator[Sample]:
    """Play cases until there are this many checks. Cases in the store are not played again.

    Args:
        store: of cases.
        digest: of everything that cases depend on.
        player: plays them.
        prefix: cases are called `PREFIX 0`, `PREFIX 1` and so on.
        checks: how many answers are compared, or a few more.
    """
    stored = {case["case"]: case for case in store.samples(digest)}
    for number in count():
        case = stored.get(number)
        if case is None:
            tally = player.play(f"{prefix} {number}")
            case = store.add(digest, {"case": number} | asdict(tally))
        yield case
        checks -= case["checks"]
        if checks <= 0:
            return


def soak_tables(cases: Sequence[Sample]) -> Iterator[Table]:
    """A row for each tokenizer and mode, and a row for each way in which cases start."""
    kinds: Mapping[tuple[str, ...], Sequence[str]] = {
        ("tokenizer", "mode"): ("tokenizer", "mode"),
        ("opening",): ("cases that start with",),
    }
    for names, headings in kinds.items():
        table = text_table(
            "The table engine compared with the definition",
            headings,
            ["checks", "admitted", "lists", "too slow to check", "mismatches", "checks per second"],
        )
        for labels, sums in _sums(cases, names).items():
            speed = sums["checks"] / max(sums["seconds"], 1e-9)
            table.add_row(*labels, *(f"{sums[name]:,.0f}" for name in _COUNTS), f"{speed:,.0f}")
        yield table


def _sums(
    cases: Sequence[Sample], names: tuple[str, ...]
) -> dict[tuple[str, ...], dict[str, float]]:
    """The counts of all cases that agree in the fields `names`."""
    by_labels: dict[tuple[str, ...], dict[str, float]] = {}
    for case in cases:
        labels = tuple(case[name] for name in names)
        sums = by_labels.setdefault(labels, dict.fromkeys((*_COUNTS, "seconds"), 0))
        for name in sums:
            sums[name] += case[name]
    return by_labels


def mismatch_text(case: Sample, example: JsonObject) -> str:
    """A wrong answer, and the lines of code that give it."""
    ids, candidate = example["shortened"], example["candidate"]
    asked = {
        "admits": f"admits([{candidate}])",
        "mask": f"mask()[{candidate}]",
        "push": f"push({candidate}), then admissible",
        "unrecoverable": "unrecoverable, and yet the list became admissible again",
        "admissible": "admissible",
        "consistent": "consistent",
    }[example["what"]]
    return (
        f"{case['tokenizer']} {case['mode']}, after {example['text']!r}"
        f"{'' if candidate is None else ', ' + example['spelled']}:\n"
        f"  tokenizer = ticore.load_tokenizer({case['place']!r})\n"
        f"  ticore.Verifier(tokenizer, {case['mode']!r}).start({ids}).{asked}\n"
        f"  found {example['found']}, expected {example['expected']} "
        f"(case {case['case']}, whole list {example['ids']})"
    )
