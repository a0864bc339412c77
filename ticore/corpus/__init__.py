"""Scans: a watermark, or drift, is looked for in each row of a large file, on many cores.

The file is read batch by batch, and workers score the batches. The results of each batch are saved.
When all are there, the output is written from the input and the results. A scan that was
interrupted goes on when it is started again: it scores only batches whose results are not saved.
"""

from ._any_scoring import AnyPayloadResult, AnyResult, AnyTask
from ._chance import Band
from ._columns import RolloutColumns
from ._drift import DriftExample, DriftResult, DriftSummary, DriftTask, scan_drift
from ._executors import EXECUTORS
from ._formats import ENDINGS, ending
from ._results import COLUMNS, PayloadResult, Result
from ._scan import Scan, default_output, scan
from ._scoring import Task
from ._summary import Summary

__all__ = [
    "COLUMNS",
    "ENDINGS",
    "EXECUTORS",
    "AnyPayloadResult",
    "AnyResult",
    "AnyTask",
    "Band",
    "DriftExample",
    "DriftResult",
    "DriftSummary",
    "DriftTask",
    "PayloadResult",
    "Result",
    "RolloutColumns",
    "Scan",
    "Summary",
    "Task",
    "default_output",
    "ending",
    "scan",
    "scan_drift",
]
