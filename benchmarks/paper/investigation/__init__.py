"""How often texts, tokens and candidates are inconsistent, and for how long (section 3, table 1).

samples.py   texts of the model alone, and where they are inconsistent
summary.py   the rates of one model
section.py   what the page shows

Texts are sampled from the whole vocabulary without special tokens, so that all are of the same
length. Each length is measured on the beginnings of the same texts.
"""

from benchmarks.paper.part import Part, groups, texts_of

from .samples import make_worker
from .section import section
from .summary import summarize

PART = Part(
    name="investigation",
    full_samples=1000,
    task_names=("first",),
    tasks=groups,
    make_worker=make_worker,
    rows=texts_of,
    summarize=summarize,
    section=section,
)

__all__ = ["PART"]
