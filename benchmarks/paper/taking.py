"""Takes the samples of a part with one model: those that are missing, each stored at once."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from benchmarks._harness.code_digest import code_digest
from benchmarks._harness.collect import collect_samples
from benchmarks._harness.sample_store import SampleStore, digest_of
from benchmarks._harness.types import Sample
from benchmarks._harness.workers import Engine

from .part import Part
from .setting import Setting


def take(
    part: Part, setting: Setting, samples: int, folder: Path, processes: int, engine: Engine
) -> tuple[list[Sample], bool]:
    """The samples of one part and model.

    Args:
        part: what to take.
        setting: of the samples.
        samples: how many of each kind.
        folder: where samples are stored.
        processes, engine: see `benchmarks._harness.workers.carry_out`.

    Returns:
        The samples, and whether they are complete: Ctrl-C ends a run early.
    """
    model = setting.model.open()
    code = code_digest(part.make_worker, model, model.tokenizer)
    return collect_samples(
        SampleStore(folder / f"{part.name}-{setting.model.name}.jsonl"),
        digest_of(setting.facts(), model.digest(), code),
        part.tasks(setting, samples),
        part.task_names,
        partial(part.make_worker, setting),
        processes,
        engine,
    )
