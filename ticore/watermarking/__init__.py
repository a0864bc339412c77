"""Watermarks: write texts with a watermark, and look for one in texts."""

from typing import Any

from .._support.deprecation import moved_names
from ._agreement import Repeats, WatermarkAgreement
from ._any import AnyWatermarkDetector
from ._any_detection import AnyDetection, FoundConfiguration
from ._changes import ChangeKind, TextChange
from ._configurations import Configuration
from ._detection import Detection, DetectionTarget, Verdict
from ._detector import DetectorSettings, Tokenizations, WatermarkDetector
from ._generator import (
    Generator,
    GeneratorSettings,
    consistent_generate,
    consistent_generate_batch,
)
from ._key_check import KeyCheck, check_key
from ._respellings import Respelling
from ._rollback import Rollback
from ._samplers import (
    LogitsWarper,
    RowSamplers,
    excluding,
    greedy,
    multinomial,
    watermarked_sampler,
)
from ._segments import Segment
from ._stretches import Stretch
from ._text_loop import Sampler
from ._text_stream import Generated, TextStream
from ._tokenization_search import TokenizationCheck
from ._watermarker import Watermarker, WatermarkerSettings
from ._whole_text_rejection import WholeTextRejection
from ._writer import RollbackKind

__all__ = [
    "AnyDetection",
    "AnyWatermarkDetector",
    "ChangeKind",
    "Configuration",
    "Detection",
    "DetectionTarget",
    "DetectorSettings",
    "FoundConfiguration",
    "Generated",
    "Generator",
    "GeneratorSettings",
    "KeyCheck",
    "LogitsWarper",
    "Repeats",
    "Respelling",
    "Rollback",
    "RollbackKind",
    "RowSamplers",
    "Sampler",
    "Segment",
    "Stretch",
    "TextChange",
    "TextStream",
    "TokenizationCheck",
    "Tokenizations",
    "Verdict",
    "WatermarkAgreement",
    "WatermarkDetector",
    "Watermarker",
    "WatermarkerSettings",
    "WholeTextRejection",
    "check_key",
    "consistent_generate",
    "consistent_generate_batch",
    "excluding",
    "greedy",
    "multinomial",
    "watermarked_sampler",
]

_renamed = moved_names(__name__, {"marked": "ticore.watermarking:watermarked_sampler"})


def __getattr__(name: str) -> Any:
    return _renamed(name)
