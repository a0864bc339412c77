"""What the tools find, drawn for a person: on a terminal, and as a web page that stands alone."""

from .inspection_page import inspection_page
from .inspection_table import inspection_table
from .segments import Mark, Segment, Token, differing_marks, segments
from .summary import inconsistency_rate, summary

__all__ = [
    "Mark",
    "Segment",
    "Token",
    "differing_marks",
    "inconsistency_rate",
    "inspection_page",
    "inspection_table",
    "segments",
    "summary",
]
