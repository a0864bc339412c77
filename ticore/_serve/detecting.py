"""Whether a text has a watermark, as `ticore detect`: first a sentence, then the numbers."""

from __future__ import annotations

from typing import Any

from ..errors import UnscorableTextError
from ..interfaces import LanguageModel
from ..report._detection_page import detection_section
from ..watermarking import WatermarkAgreement, WatermarkDetector
from .fields import Fields
from .jobs import Watch, Work
from .mark_sharing import FIELDS, SharedMark
from .models import Models
from .sentences import sentence
from .tokens import require_few

DETECT_FIELDS = (*FIELDS, "text")


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
    p_value = found.p_value if found.verdict == "watermarked" else found.segment.p_value
    return {
        "verdict": found.verdict,
        "sentence": sentence(found.verdict, p_value),
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
