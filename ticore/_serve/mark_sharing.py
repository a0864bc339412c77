"""What the writer and the detector of a watermark share: an agreement file, or key and scheme."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..interfaces import LanguageModel
from ..schemes import ALL_SCHEMES
from ..watermarking import WatermarkAgreement
from .fields import Fields
from .jobs import Watch, Work
from .models import Models
from .sharing import read_key

FIELDS = ("agreement", "model", "key", "scheme")
ABOUT_SCHEMES = {
    "left_hash": "a list of favoured words that depends on the words before",
    "self_hash": "the same, and on the word itself",
    "unigram": "one list of favoured words for all texts",
    "gumbel": "keyed dice in the place of chance",
    "dipmark": "a keyed order of all words, of which the later half is favoured",
    "gumbel_payload": "keyed dice that also carry a payload, such as the number of a user",
}


@dataclass(frozen=True, repr=False)
class SharedMark:
    """What a request says about both sides. It has no repr, since it holds the key.

    Attributes:
        agreement: the text of an agreement file; empty: the other attributes count.
        model: a place.
        key: hex digits.
        scheme: the name of a scheme.
    """

    agreement: str
    model: str
    key: str
    scheme: str

    @classmethod
    def of(cls, fields: Fields) -> SharedMark:
        """What a request says. Raises RefusedError."""
        return cls(
            agreement=fields.text("agreement", ""),
            model=fields.text("model", ""),
            key=fields.text("key", ""),
            scheme=fields.choice("scheme", tuple(ALL_SCHEMES), "left_hash"),
        )

    def open(self, models: Models) -> tuple[LanguageModel, WatermarkAgreement]:
        """The model, and all that detection depends on.

        Raises:
            CredentialError: the agreement or the key is malformed.
            TicoreError: the model is not offered, or cannot be opened.
        """
        if self.agreement:
            agreed = read_mark_agreement(self.agreement)
            return models.model(agreed.tokenizer), agreed
        key = read_key(self.key)  # what is quickly refused comes before the model
        model = models.model(self.model)
        return model, WatermarkAgreement.new(self.model, self.scheme, key=key)


def read_mark_agreement(text: str) -> WatermarkAgreement:
    """The agreement in a file's text. Raises CredentialError, which does not show the key."""
    return WatermarkAgreement.loads(text, "the agreement file")


def make_mark_agreement(fields: Fields, models: Models) -> Work:
    """Work that returns the text of an agreement file with what the request says."""
    shared = SharedMark.of(fields)

    def work(watch: Watch) -> dict[str, Any]:
        _, agreement = shared.open(models)
        return {"agreement": agreement.dumps()}

    return work


def open_mark_agreement(fields: Fields, models: Models) -> Work:
    """Work that returns what an agreement says, without its key."""
    text = fields.text("agreement")

    def work(watch: Watch) -> dict[str, Any]:
        found = read_mark_agreement(text)
        return {"model": found.tokenizer, "scheme": found.scheme}

    return work
