"""Results for a person to read: tables for a terminal, web pages in one file each, notebooks.

inspection_table, inspection_page   a token list beside the one that its text is read back as
detection_table, detection_page     texts in which a watermark was looked for
any_detection_table, any_detection_page   the same for many configurations
drift_page                          how often the ids of rollouts change, and why
"""

from .._support.deprecation import moved_names
from ._any_detection import any_detection_page, any_detection_table
from ._blocks import Block, ComparedToken, TokenStatus, blocks, differing_statuses
from ._detection_page import detection_page
from ._detection_table import detection_table
from ._drift_page import ShownDrift, drift_page
from ._inspection_page import inspection_page
from ._inspection_table import inspection_table
from ._summary import inconsistency_rate, summary

__all__ = [
    "Block",
    "ComparedToken",
    "ShownDrift",
    "TokenStatus",
    "any_detection_page",
    "any_detection_table",
    "blocks",
    "detection_page",
    "detection_table",
    "differing_statuses",
    "drift_page",
    "inconsistency_rate",
    "inspection_page",
    "inspection_table",
    "summary",
]

__getattr__ = moved_names(
    __name__,
    {
        "Search": "ticore.watermarking:DetectionTarget",
        "Mark": "ticore.report:TokenStatus",
        "Segment": "ticore.report:Block",
        "Token": "ticore.report:ComparedToken",
        "differing_marks": "ticore.report:differing_statuses",
        "segments": "ticore.report:blocks",
    },
)
