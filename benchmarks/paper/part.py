"""What each part of the paper's experiments offers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks._harness.types import JsonObject, Sample, Task, Worker

from .sections import Section
from .setting import Setting
from .stand_ins import StandIn


@dataclass(frozen=True)
class Part:
    """A part of the experiments.

    Attributes:
        name: for the command line and files.
        full_samples: as many as the paper takes.
        task_names: the field of a sample for each value of its task.
        tasks: those of a setting for a number of samples. More samples are more tasks, and none of
            the others change.
        make_worker: the worker of a setting; see `benchmarks._harness.workers`.
        rows: what a file of results says of each text.
        summarize: the results of one model, from its rows; None where other parts use the rows.
        section: what the page shows, from the summary of each model; None as well.
    """

    name: str
    full_samples: int
    task_names: tuple[str, ...]
    tasks: Callable[[Setting, int], Sequence[Task]]
    make_worker: Callable[[Setting], Worker]
    rows: Callable[[Sequence[Sample], int], Sequence[JsonObject]]
    summarize: Callable[[Sequence[JsonObject]], JsonObject] | None = None
    section: Callable[[Mapping[StandIn, JsonObject]], Section] | None = None


def groups(setting: Setting, samples: int) -> list[Task]:
    """Tasks of as many texts as are written side by side: the index of the first one of each."""
    return [(first,) for first in range(0, samples, setting.batch)]


def texts_of(samples: Sequence[Sample], count: int) -> list[JsonObject]:
    """The texts of groups, in order, without those that the last group has too many."""
    texts = [text for sample in samples for text in sample["texts"]]
    return sorted((t for t in texts if t["index"] < count), key=lambda t: int(t["index"]))
