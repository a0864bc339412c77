"""Files with many texts: a watermark is looked for in each, on many cores, and never twice.

The file is read batch by batch, workers score the batches, and their results are kept until the
last one is there; then input and results are put together. What was interrupted goes on with the
first batch whose results are missing.
"""

from .engines import ENGINES
from .formats import ENDINGS, ending
from .results import COLUMNS, Result
from .scan import Scan, Summary, default_output, scan
from .scoring import Task

__all__ = [
    "COLUMNS",
    "ENDINGS",
    "ENGINES",
    "Result",
    "Scan",
    "Summary",
    "Task",
    "default_output",
    "ending",
    "scan",
]
