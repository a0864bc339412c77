"""Whether a text has a watermark, as `ticore detect`: first a sentence, then the numbers."""

from __future__ import annotations

from typing import Any

from ..errors import CredentialError
from ..interfaces import Tokenizer
from ..report._detection_page import detection_section
from ..schemes import SCHEMES
from ..watermarking import Detection, WatermarkAgreement, WatermarkDetector
from .fields import Fields
from .jobs import Watch, Work
from .models import Models
from .sharing import read_key
from .tokens import require_few

DETECT_FIELDS = ("agreement", "model", "key", "scheme", "text")
ABOUT_SCHEMES = {
    "left_hash": "a list of favoured words that depends on the words before",
    "self_hash": "the same, and on the word itself",
    "unigram": "one list of favoured words for all texts",
    "gumbel": "keyed dice in the place of chance",
}
_RAREST = 1e-9


def detect(fields: Fields, models: Models) -> Work:
    """Work that looks for a watermark."""
    text, agreement = fields.text("text"), fields.text("agreement", "")
    model, key = fields.text("model", ""), fields.text("key", "")
    scheme = fields.choice("scheme", tuple(SCHEMES), "left_hash")

    def work(watch: Watch) -> dict[str, Any]:
        if agreement:
            agreed = _read_agreement(agreement)
            tokenizer = models.model(agreed.tokenizer).tokenizer
            detector = WatermarkDetector.from_agreement(agreed, tokenizer=tokenizer)
        else:
            secret = read_key(key)
            tokenizer = models.model(model).tokenizer
            detector = WatermarkDetector(tokenizer, scheme, key=secret, tokenizer_place=model)
        require_few(len(tokenizer.encode(text)))
        return _report(detector.detect(text), tokenizer)

    return work


def _report(found: Detection, tokenizer: Tokenizer) -> dict[str, Any]:
    return {
        "verdict": found.verdict,
        "sentence": sentence(found),
        "html": detection_section("The numbers", found, tokenizer),
    }


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


def _read_agreement(text: str) -> WatermarkAgreement:
    try:
        return WatermarkAgreement.loads(text, "the agreement file")
    except CredentialError as error:
        said, _, _ = str(error).partition("; make one with:")
        raise CredentialError(
            f"{said}; open the file that the writer of the watermark has saved"
        ) from None
