"""Hidden messages: what each cure of inconsistency carries, changes and costs (section 5, table 2).

plan.py      which texts are written
samples.py   texts that hold a message, read back and measured
summary.py   the measures of one model, by number of candidates and by bits per token
claims.py    the paper's claims, computed from our texts
section.py   what the page shows
figures.py   its figures

Every method hides the same bits after the same prompts, by arithmetic coding with the paper's stop.
"""

from benchmarks.paper.part import Part

from .plan import TASK_NAMES, rows, tasks
from .samples import make_worker
from .section import section
from .summary import summarize

PART = Part(
    name="messages",
    full_samples=500,
    task_names=TASK_NAMES,
    tasks=tasks,
    make_worker=make_worker,
    rows=rows,
    summarize=summarize,
    section=section,
)

__all__ = ["PART"]
