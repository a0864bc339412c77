"""Watermarks: texts written with one, and texts looked at for one."""

from .detector import Detection, Segment, WatermarkDetector
from .generating import Generator, consistent_generate, consistent_generate_batch
from .key_check import KeyCheck, check_key
from .rollback import Rollback, Sampler
from .sampling import RowSamplers, Warp, excluding, greedy, marked, multinomial
from .watermarker import Watermarker
from .writing import Generated, Writing

__all__ = [
    "Detection",
    "Generated",
    "Generator",
    "KeyCheck",
    "Rollback",
    "RowSamplers",
    "Sampler",
    "Segment",
    "Warp",
    "WatermarkDetector",
    "Watermarker",
    "Writing",
    "check_key",
    "consistent_generate",
    "consistent_generate_batch",
    "excluding",
    "greedy",
    "marked",
    "multinomial",
]
