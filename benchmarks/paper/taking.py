"""Takes the samples of a part with one model: those that are missing, each stored at once."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from benchmarks._harness.code_digest import code_digest
from benchmarks._harness.collect import Collector
from benchmarks._harness.sample_store import SampleStore, digest_of
from benchmarks._harness.types import Sample

from .part import Part
from .setting import Setting


def take(
    part: Part, setting: Setting, samples: int, folder: Path, collector: Collector
) -> tuple[list[Sample], bool]:
    """The samples of one part and model.

    Args:
        part: what to take.
        setting: of the samples.
        samples: how many of each kind.
        folder: where samples are stored.
        collector: carries out what is missing.

    Returns:
        The samples, and whether they are complete: Ctrl-C ends a run early.
    """
    model = setting.model.open()
    code = code_digest(part.make_worker, model, model.tokenizer)
    return collector.samples(
        SampleStore(folder / f"{part.name}-{setting.model.name}.jsonl"),
        digest_of(setting.facts(), model.digest(), code),
        part.tasks(setting, samples),
        part.task_names,
        partial(part.make_worker, setting),
    )
