"""Can the texts with a message be told from covers? (section 5, accuracies of table 2)

detectors/      what tells them apart
texts.py        texts as detectors see them: whole, or their first tokens
detecting.py    the detectors at hand, and the analysis with them
training.py     each detector on each kind of texts: a task each
trials.py       how well one of them does
summary.py      what all of them found
section.py      what the page shows
as_analysis.py  this as a part of the experiments

The paper's BERT is replaced by a sentence-embedding MiniLM where one is at hand (`--encoder DIR`),
and by a small transformer that is trained from scratch where none is. Beside the paper's detectors
stands the strongest observer, who has the generating model; and, as a control, one who sees nothing
but the length.
"""

from .as_analysis import ANALYSIS

__all__ = ["ANALYSIS"]
