"""Carry out the tasks that have no sample yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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

    Returns:
        One sample of each task that was carried out, in the order of `tasks`, and whether these
        are all: Ctrl-C ends the run early.
    """

    taken = samples_taken(store, digest, names)
    missing = [task for task in tasks if task not in taken]
    complete = True
    try:
        with progress_bar(len(tasks), len(tasks) - len(missing)) as advance:
            for sample in carry_out(missing, make_worker, processes, engine) if missing else ():
                taken[_task_of(sample, names)] = store.add(digest, sample)
                advance(1, "samples")
    except KeyboardInterrupt:
        messages.print("interrupted; the same command continues from here")
        complete = False
    return [taken[task] for task in tasks if task in taken], complete


def samples_taken(store: SampleStore, digest: str, names: Sequence[str]) -> dict[Task, Sample]:
    """The samples in a store by their tasks; see `collect_samples`."""
    # Of two runs that wrote to the store at once, both may have taken a sample: one counts.
    return {_task_of(sample, names): sample for sample in store.samples(digest)}


def _task_of(sample: Sample, names: Sequence[str]) -> Task:
    return tuple(sample[name] for name in names)
