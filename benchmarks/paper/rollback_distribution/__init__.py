"""What rollback does to the distribution of texts, and what it costs: computed, not sampled.

    rows = [row for seed in range(5) for row in measure(seed)]
    summary = summarize(rows)

The models are so small that all of their texts can be listed. So the probability of each text is
known under the model, under the model conditioned on consistent texts (the target), and under each
algorithm, whose own probability tree is followed to its ends.
"""

from benchmarks.paper.analysis import Computation

from ._measures import RollbackRow, SummaryRow, measure, summarize
from ._section import compute, section
from ._toys import Toy, make_toys

COMPUTATION = Computation("rollback-distribution", compute, section)

__all__ = ["COMPUTATION", "RollbackRow", "SummaryRow", "Toy", "make_toys", "measure", "summarize"]
