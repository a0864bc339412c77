"""Parts that take no samples: analyses look at those of others, computations need none."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks._harness.code_digest import code_digest
from benchmarks._harness.collect import Collector
from benchmarks._harness.sample_store import SampleStore
from benchmarks._harness.tables import write_json
from benchmarks._harness.types import JsonObject, Sample, Task, Worker

from .sections import Section
from .stand_ins import StandIn


@dataclass(frozen=True)
class AnalysisOptions:
    """What an analysis may use besides the rows.

    Attributes:
        model: whose rows they are.
        seed: of all random numbers.
        encoder: the directory of a sentence-embedding model, or None.
    """

    model: StandIn
    seed: int
    encoder: Path | None = None


@dataclass
class Collection:
    """Carries out the tasks of an analysis, and keeps each sample.

    Attributes:
        folder: where samples are stored.
        name: what files of samples begin with.
        digest: of everything that samples depend on besides their task.
        collector: carries the tasks out.
        complete: whether there is a sample of each task: Ctrl-C ends a run early.
    """

    folder: Path
    name: str
    digest: str
    collector: Collector
    complete: bool = field(default=True, init=False)

    def samples(
        self,
        kind: str,
        tasks: Sequence[Task],
        names: Sequence[str],
        make_worker: Callable[[], Worker],
    ) -> list[Sample]:
        """One sample of each task that was carried out, now or by an earlier run.

        Args:
            kind: of tasks, which has a file of its own.
            tasks, names, make_worker: see `benchmarks._harness.collect.collect_samples`.
        """
        store = SampleStore(self.folder / f"{self.name}-{kind}.jsonl")
        found, complete = self.collector.samples(store, self.digest, tasks, names, make_worker)
        self.complete &= complete
        return found


@dataclass(frozen=True)
class Analysis:
    """A look at the samples of other parts.

    Attributes:
        name: for the command line and files.
        needs: the names of the parts.
        run: the results for one model, from the rows of these parts, by name, the options, and
            what carries out tasks.
        section: what the page shows, from the results of each model.
        takes_encoder: whether results depend on that of the options.
    """

    name: str
    needs: tuple[str, ...]
    run: Callable[[Mapping[str, Sequence[JsonObject]], AnalysisOptions, Collection], JsonObject]
    section: Callable[[Mapping[StandIn, JsonObject]], Section]
    takes_encoder: bool = False


@dataclass(frozen=True)
class Computation:
    """Results that depend on no model and no sample.

    Attributes:
        name: for the command line and files.
        run: the results, as JSON.
        section: what the page shows of them.
    """

    name: str
    run: Callable[[], Any]
    section: Callable[[Any], Section]


def computed(computation: Computation, folder: Path) -> Any:
    """The results: those of an earlier run, if it had the same code.

    Args:
        computation: what to compute.
        folder: where results are kept.
    """
    file = folder / f"{computation.name}.json"
    digest = code_digest(computation.run)
    if (earlier := _read(file, digest)) is not None:
        return earlier["results"]
    found = computation.run()
    write_json(file, {"digest": digest, "results": found})
    return found


def analysed(
    analysis: Analysis,
    rows: Mapping[str, Sequence[JsonObject]],
    options: AnalysisOptions,
    folder: Path,
    collector: Collector,
) -> tuple[JsonObject, bool]:
    """The results for one model: those of an earlier run, if it saw the same with the same code.

    Args:
        analysis, rows, options: see `Analysis.run`.
        folder: `results` there is where results are kept, `samples` where those of tasks are.
        collector: carries out its tasks.

    Returns:
        The results, and whether they are complete: Ctrl-C ends a run early.
    """
    code = code_digest(analysis.run)
    encoder = options.encoder if analysis.takes_encoder else None
    facts = [code, options.seed, None if encoder is None else _files_digest(encoder), rows]
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
    name = f"{analysis.name}-{options.model.name}"
    file = folder / "results" / f"{name}.json"
    if (earlier := _read(file, digest)) is not None:
        return earlier, True
    collection = Collection(folder / "samples", name, digest, collector)
    found = {"digest": digest} | analysis.run(rows, options, collection)
    if collection.complete:
        write_json(file, found)
    return found, collection.complete


def _files_digest(folder: Path) -> list[str]:
    """The folder's name and the digests of its files: another model may stand in its place."""
    files = sorted(file for file in folder.iterdir() if file.is_file())
    return [folder.name, *(hashlib.sha256(file.read_bytes()).hexdigest() for file in files)]


def _read(file: Path, digest: str) -> JsonObject | None:
    """What an earlier run wrote with this digest."""
    if not file.exists():
        return None
    earlier: JsonObject = json.loads(file.read_text(encoding="utf-8"))
    return earlier if earlier.get("digest") == digest else None
