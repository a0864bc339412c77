"""Whether a text has a watermark, as `ticore detect`: first a sentence, then the numbers."""

from __future__ import annotations

from typing import Any, get_args

from ..errors import UnscorableTextError
from ..interfaces import LanguageModel, Tokenizer
from ..report._any_detection import shown_any_detection
from ..report._detection_page import ShownDetection, evidence, shown_detection
from ..report._markup import element
from ..report._markup import text as words
from ..report._verdict import SaidVerdict
from ..watermarking import (
    Tokenizations,
    WatermarkAgreement,
    WatermarkDetector,
)
from .configurations import open_list, read_list
from .fields import Fields
from .jobs import Watch, Work
from .mark_sharing import FIELDS, SharedMark
from .models import Models
from .tokens import require_few

DETECT_FIELDS = (*FIELDS, "text", "configurations", "tokenizations")


def detect(fields: Fields, models: Models) -> Work:
    """Work that looks for a watermark: of an agreement or key, or of a list of configurations."""
    text = fields.text("text")
    tokenizations: Tokenizations = fields.choice("tokenizations", get_args(Tokenizations), "places")
    listed = fields.text("configurations", "")
    if listed:
        entries, place = read_list(listed), fields.text("model", "")

        def work_of_list(watch: Watch) -> dict[str, Any]:
            model = models.model(place)
            require_few(len(model.tokenizer.encode(text)))
            watch.require_wanted()
            detector = open_list(model.tokenizer, entries, place, tokenizations)
            found = detector.detect(text, tick=watch.require_wanted)
            return _answer(shown_any_detection("", found), detector.tokenizer, found.to_dict())

        return work_of_list
    shared = SharedMark.of(fields)

    def work(watch: Watch) -> dict[str, Any]:
        model, agreement = shared.open(models)
        require_few(len(model.tokenizer.encode(text)))
        watch.require_wanted()
        return verdict_on(text, model, agreement, tokenizations)

    return work


def verdict_on(
    text: str,
    model: LanguageModel,
    agreement: WatermarkAgreement,
    tokenizations: Tokenizations = "places",
) -> dict[str, Any]:
    """What the detector says of a text: the verdict, a sentence, both as HTML, and the numbers.

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
    return _answer(shown_detection("", found), tokenizer, found.to_dict())


def verdict_or_why_not(
    text: str, model: LanguageModel, agreement: WatermarkAgreement
) -> dict[str, Any]:
    """`verdict_on` a text that may be too short; the sentence then says so."""
    try:
        return verdict_on(text, model, agreement)
    except UnscorableTextError as error:
        said = SaidVerdict("short", "The text is too short to look.", f"{error}.")
        return {"verdict": "", "sentence": str(said), "said": said.html(), "html": ""}


def _answer(shown: ShownDetection, tokenizer: Tokenizer, numbers: dict[str, Any]) -> dict[str, Any]:
    heading = element("h3", words("The numbers"))
    return {
        "verdict": shown.verdict,
        "sentence": str(shown.said),
        "said": shown.said.html(),
        "html": "".join((heading, *evidence(shown, tokenizer))),
        "json": numbers,
    }
