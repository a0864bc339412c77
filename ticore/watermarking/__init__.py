"""Watermarks: texts written with one, and texts looked at for one."""

from .detector import Detection, Segment, WatermarkDetector
from .generating import Generated, Generator, Writing, consistent_generate
from .rollback import Rollback, Sampler
from .sampling import Warp, excluding, greedy, marked, multinomial
from .watermarker import Watermarker

__all__ = [
    "Detection",
    "Generated",
    "Generator",
    "Rollback",
    "Sampler",
    "Segment",
    "Warp",
    "WatermarkDetector",
    "Watermarker",
    "Writing",
    "consistent_generate",
    "excluding",
    "greedy",
    "marked",
    "multinomial",
]
