"""What the tools find, drawn for a person: on a terminal, and as a web page that stands alone."""

from .detection_facts import Search
from .detection_page import detection_page
from .detection_table import detection_table
from .inspection_page import inspection_page
from .inspection_table import inspection_table
from .segments import Mark, Segment, Token, differing_marks, segments
from .summary import inconsistency_rate, summary

__all__ = [
    "Mark",
    "Search",
    "Segment",
    "Token",
    "detection_page",
    "detection_table",
    "differing_marks",
    "inconsistency_rate",
    "inspection_page",
    "inspection_table",
    "segments",
    "summary",
]
