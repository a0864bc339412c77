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
        The samples, and whether they are complete: Ctrl-C ends the run early.
    """

    def task_of(sample: Sample) -> Task:
        return tuple(sample[name] for name in names)

    done = set(map(task_of, store.samples(digest)))
    missing = [task for task in tasks if task not in done]
    complete = True
    try:
        with progress_bar(len(tasks), len(tasks) - len(missing)) as advance:
            for sample in carry_out(missing, make_worker, processes, engine) if missing else ():
                store.add(digest, sample)
                advance(1, "samples")
    except KeyboardInterrupt:
        messages.print("interrupted; the same command continues from here")
        complete = False
    wanted = set(tasks)
    return [one for one in store.samples(digest) if task_of(one) in wanted], complete
