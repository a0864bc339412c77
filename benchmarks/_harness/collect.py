"""Carry out the tasks that have no sample yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .progress import messages, progress_bar
from .sample_store import SampleStore
from .types import Sample, Task, Worker
from .workers import Engine, carry_out


def collect_samples(
    store: SampleStore,
    digest: str,
    tasks: Sequence[Task],
    names: Sequence[str],
    make_worker: Callable[[], Worker],
    processes: int,
    engine: Engine = "processes",
    only_kept: bool = False,
) -> tuple[list[Sample], bool]:
    """The samples of all tasks. Those that are missing are taken, and each is stored at once.

    Args:
        store: where samples are.
        digest: of everything that samples depend on besides their task; see `digest_of`.
        tasks: the tasks to carry out.
        names: the field of a sample for each value of its task.
        make_worker: see `carry_out`.
        processes: how many workers.
        engine: what they are.
        only_kept: carry out nothing: the samples are those of earlier runs.

    Returns:
        One sample of each task that was carried out, in the order of `tasks`, and whether these
        are all: Ctrl-C ends the run early.
    """

    tasks = list(dict.fromkeys(tasks))  # one that is asked for twice counts once

    def task_of(sample: Sample) -> Task:
        return tuple(sample[name] for name in names)

    # Of two runs that wrote to the store at once, both may have taken a sample: one counts.
    taken = {task_of(sample): sample for sample in store.samples(digest)}
    missing = [task for task in tasks if task not in taken]
    begun = [] if only_kept else missing
    complete = len(begun) == len(missing)
    try:
        with progress_bar(len(tasks), len(tasks) - len(missing)) as advance:
            for sample in carry_out(begun, make_worker, processes, engine) if begun else ():
                taken[task_of(sample)] = store.add(digest, sample)
                advance(1, "samples")
    except KeyboardInterrupt:
        messages.print("interrupted; the same command continues from here")
        complete = False
    return [taken[task] for task in tasks if task in taken], complete


@dataclass
class Collector:
    """Collects the samples of several parts of a run. After Ctrl-C it begins nothing more.

    The parts that are left then have what earlier runs kept.

    Attributes:
        processes, engine: see `carry_out`.
        interrupted: whether there was Ctrl-C.
    """

    processes: int
    engine: Engine = "processes"
    interrupted: bool = field(default=False, init=False)

    def samples(
        self,
        store: SampleStore,
        digest: str,
        tasks: Sequence[Task],
        names: Sequence[str],
        make_worker: Callable[[], Worker],
    ) -> tuple[list[Sample], bool]:
        """See `collect_samples`."""
        found, complete = collect_samples(
            store,
            digest,
            tasks,
            names,
            make_worker,
            self.processes,
            self.engine,
            only_kept=self.interrupted,
        )
        self.interrupted |= not complete
        return found, complete
