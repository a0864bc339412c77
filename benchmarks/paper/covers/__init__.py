"""Covers: texts without a message, against which those with one have to stand (section 5).

samples.py   free samples of the model, 10 to 128 tokens long

They have no section of their own: `steganalysis` needs them.
"""

from benchmarks.paper.part import Part, groups, texts_of

from .samples import make_worker

PART = Part(
    name="covers",
    full_samples=5500,
    task_names=("first",),
    tasks=groups,
    make_worker=make_worker,
    rows=texts_of,
)

__all__ = ["PART"]
