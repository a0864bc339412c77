"""Whether a text has a watermark, as `ticore detect`: first a sentence, then the numbers."""

from __future__ import annotations

from typing import Any, get_args

from ..errors import UnscorableTextError
from ..interfaces import LanguageModel
from ..report._any_detection import any_detection_section
from ..report._detection_page import detection_section
from ..watermarking import AnyWatermarkDetector, WatermarkAgreement, WatermarkDetector
from ..watermarking._detector import Tokenizations
from .configurations import open_list, read_list
from .fields import Fields
from .jobs import Watch, Work
from .mark_sharing import FIELDS, SharedMark
from .models import Models
from .sentences import any_sentence, sentence
from .tokens import require_few

DETECT_FIELDS = (*FIELDS, "text", "configurations", "tokenizations")
_TITLE = "The numbers"


def detect(fields: Fields, models: Models) -> Work:
    """Work that looks for a watermark: of an agreement or key, or of a list of configurations."""
    text = fields.text("text")
    tokenizations = fields.choice("tokenizations", get_args(Tokenizations), "places")
    listed = fields.text("configurations", "")
    if listed:
        entries, place = read_list(listed), fields.text("model", "")

        def work_of_list(watch: Watch) -> dict[str, Any]:
            model = models.model(place)
            require_few(len(model.tokenizer.encode(text)))
            return _verdict_of_list(text, open_list(model.tokenizer, entries, place))

        return work_of_list
    shared = SharedMark.of(fields)

    def work(watch: Watch) -> dict[str, Any]:
        model, agreement = shared.open(models)
        require_few(len(model.tokenizer.encode(text)))
        return verdict_on(text, model, agreement, tokenizations)

    return work


def verdict_on(
    text: str, model: LanguageModel, agreement: WatermarkAgreement, tokenizations: Any = "places"
) -> dict[str, Any]:
    """What the detector says of a text: the verdict, a sentence, the numbers as HTML and as JSON.

    Args:
        text: without the prompt, if that is possible.
        model: that of the agreement.
        agreement: what writer and detector share.
        tokenizations: see `WatermarkDetector`.

    Raises:
        UnscorableTextError: the text is too short.
        SettingsError: the tokenizer is not the agreement's.
    """
    tokenizer = model.tokenizer
    detector = WatermarkDetector.from_agreement(
        agreement, tokenizer=tokenizer, tokenizations=tokenizations
    )
    found = detector.detect(text)
    p_value = found.p_value if found.verdict == "watermarked" else found.segment.p_value
    return {
        "verdict": found.verdict,
        "sentence": sentence(found.verdict, p_value),
        "html": detection_section(_TITLE, found, tokenizer),
        "json": found.to_dict(),
    }


def verdict_or_why_not(
    text: str, model: LanguageModel, agreement: WatermarkAgreement
) -> dict[str, Any]:
    """`verdict_on` a text that may be too short; the sentence then says so."""
    try:
        return verdict_on(text, model, agreement)
    except UnscorableTextError as error:
        return {"verdict": "", "sentence": f"The text is too short to look: {error}.", "html": ""}


def _verdict_of_list(text: str, detector: AnyWatermarkDetector) -> dict[str, Any]:
    found = detector.detect(text)
    return {
        "verdict": found.verdict,
        "sentence": any_sentence(found),
        "html": any_detection_section(_TITLE, found, detector.tokenizer),
        "json": found.to_dict(),
    }
