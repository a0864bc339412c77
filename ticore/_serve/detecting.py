"""Whether a text has a watermark, as `ticore detect`: first a sentence, then the numbers."""

from __future__ import annotations

from typing import Any

from ..errors import UnscorableTextError
from ..interfaces import LanguageModel
from ..report._detection_page import detection_section
from ..watermarking import Detection, WatermarkAgreement, WatermarkDetector
from .fields import Fields
from .jobs import Watch, Work
from .mark_sharing import FIELDS, SharedMark
from .models import Models
from .tokens import require_few

DETECT_FIELDS = (*FIELDS, "text")
_RAREST = 1e-9


def detect(fields: Fields, models: Models) -> Work:
    """Work that looks for a watermark."""
    shared, text = SharedMark.of(fields), fields.text("text")

    def work(watch: Watch) -> dict[str, Any]:
        model, agreement = shared.open(models)
        require_few(len(model.tokenizer.encode(text)))
        return verdict_on(text, model, agreement)

    return work


def verdict_on(text: str, model: LanguageModel, agreement: WatermarkAgreement) -> dict[str, Any]:
    """What the detector says of a text: the verdict, a sentence, and the numbers as HTML.

    Raises:
        UnscorableTextError: the text is too short.
        SettingsError: the tokenizer is not the agreement's.
    """
    tokenizer = model.tokenizer
    detector = WatermarkDetector.from_agreement(agreement, tokenizer=tokenizer)
    found = detector.detect(text)
    return {
        "verdict": found.verdict,
        "sentence": sentence(found),
        "html": detection_section("The numbers", found, tokenizer),
    }


def verdict_or_why_not(
    text: str, model: LanguageModel, agreement: WatermarkAgreement
) -> dict[str, Any]:
    """`verdict_on` a text that may be too short; the sentence then says so."""
    try:
        return verdict_on(text, model, agreement)
    except UnscorableTextError as error:
        return {"verdict": "", "sentence": f"The text is too short to look: {error}.", "html": ""}


def sentence(found: Detection) -> str:
    """What a detection says, for a person who knows no statistics."""
    match found.verdict:
        case "watermarked":
            return (
                f"This text has the watermark. Of texts without it, {_share(found.p_value)} would "
                f"look as marked as this one."
            )
        case "watermarked in part":
            return (
                f"A part of this text has the watermark. Of texts without it, "
                f"{_share(found.segment.p_value)} would have a part that looks as marked."
            )
    return (
        "No watermark of this key was found. The text may still come from a model: marks are lost "
        "by editing, and other models have other marks or none."
    )


def _share(p_value: float) -> str:
    if p_value < _RAREST:
        return "fewer than one in a billion"
    return f"about one in {round(1 / p_value):,}"
