"""Detectors by the name of a scheme, also of the schemes of inference engines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ticore import WatermarkDetector

_EXTERNAL: dict[str, Callable[..., WatermarkDetector]] = {
    "sglang": WatermarkDetector.for_sglang,
    "synthid": WatermarkDetector.for_synthid,
    "textseal": WatermarkDetector.for_textseal,
    "vllm": WatermarkDetector.for_vllm,
}


def make_detector(tokenizer: object, scheme: str, settings: Mapping[str, Any]) -> WatermarkDetector:
    """The detector of a scheme.

    Args:
        tokenizer: of the texts.
        scheme: `gumbel`, `vllm`, ...
        settings: the scheme's settings with its key; `config` for the scheme of an engine.
    """
    if scheme in _EXTERNAL:
        return _EXTERNAL[scheme](tokenizer, settings["config"])
    return WatermarkDetector(tokenizer, scheme, **settings)
