"""What the two sides of a message share: an agreement file, or a secret and settings beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypedDict, cast, get_args

from ..channels import channel_named
from ..errors import CredentialError
from ..keys import Key
from ..steganography import Agreement, Steganographer
from ..steganography._frame_formats import Security
from ..steganography._portability import loading_options
from .fields import Fields
from .jobs import Watch, Work
from .models import Models

FIELDS = ("agreement", "model", "key", "password", "prompt", "channel", "security")
_DEFAULT_MODEL = "tiny-en"
_KEY_DIGITS = 64


class Secret(TypedDict, total=False):
    """What unlocks messages, as an argument of Steganographer."""

    key: Key
    password: str


@dataclass(frozen=True, repr=False)
class Shared:
    """What a request says about both sides. It has no repr, since it holds the secret.

    Attributes:
        agreement: the text of an agreement file; empty: the other attributes count.
        model: a place; with an agreement only if that names none.
        key: hex digits; empty if there is a password, or the agreement holds the key.
        password: in the place of a key; None if there is none.
        prompt, channel, security: see `Steganographer`.
    """

    agreement: str
    model: str
    key: str
    password: str | None
    prompt: str
    channel: str
    security: Security

    @classmethod
    def of(cls, fields: Fields) -> Shared:
        """What a request says. Raises RefusedError."""
        security = fields.choice("security", get_args(Security), "standard")
        return cls(
            agreement=fields.text("agreement", ""),
            model=fields.text("model", _DEFAULT_MODEL),
            key=fields.text("key", ""),
            password=fields.text("password") if "password" in fields else None,
            prompt=fields.text("prompt", ""),
            channel=fields.text("channel", "identity"),
            security=cast(Security, security),
        )

    def steganographer(self, models: Models) -> Steganographer:
        """The steganographer of both sides.

        Raises:
            TicoreError: as `Steganographer` and `from_agreement`.
        """
        if not self.agreement:
            # What is quickly refused comes before the model, which takes seconds.
            secret, channel = self.secret(), channel_named(self.channel)
            return Steganographer(
                models.model(self.model),
                prompt=self.prompt,
                channel=channel,
                security=self.security,
                **secret,
            )
        agreement = read_agreement(self.agreement)
        given = self.secret() if agreement.key is None else Secret()
        options = loading_options(agreement.model_options, agreement.numerics)
        model = models.model(agreement.model_place or self.model, options)
        return Steganographer.from_agreement(agreement, model=model, **given)

    def secret(self) -> Secret:
        """The key or the password. Raises CredentialError, which does not show it."""
        if self.password is None:
            return {"key": read_key(self.key)}
        if self.key:
            raise CredentialError("expected a key or a password, found both; give one of them")
        if not self.password:
            raise CredentialError("password: expected one, found none; type the one you both know")
        return {"password": self.password}


def read_key(digits: str) -> Key:
    """The key that a person has pasted. Raises CredentialError, which does not show it."""
    digits = digits.strip()
    try:
        if len(digits) == _KEY_DIGITS:
            return Key.from_hex(digits)
        found = f"{len(digits)} characters" if digits else "none"
    except CredentialError:
        found = "others among them"
    raise CredentialError(
        f"key: expected {_KEY_DIGITS} characters from 0 to 9 and a to f, found {found}; paste the "
        f"whole key, or make a new one"
    )


def read_agreement(text: str) -> Agreement:
    """The agreement in a file's text. Raises AgreementError, which does not show the key."""
    return Agreement.loads(text, "the agreement file")


def make_agreement(fields: Fields, models: Models) -> Work:
    """Work that returns the text of an agreement file with what the request says."""
    shared = Shared.of(fields)

    def work(watch: Watch) -> dict[str, Any]:
        agreement = shared.steganographer(models).agreement
        if shared.agreement:
            return {"agreement": read_agreement(shared.agreement).dumps()}
        key = shared.secret().get("key")  # a password stays with the people who know it
        return {"agreement": replace(agreement, key=key, model_place=shared.model).dumps()}

    return work


def open_agreement(fields: Fields, models: Models) -> Work:
    """Work that returns what an agreement says, without its key."""
    text = fields.text("agreement")

    def work(watch: Watch) -> dict[str, Any]:
        found = read_agreement(text)
        return {
            "model": found.model_place,
            "prompt": found.prompt,
            "conversation": found.prompt_ids is not None,
            "channel": found.channel,
            "security": found.security,
            "openers": found.openers,
            "window": found.window,
            "edits": found.edits,
            "has_key": found.key is not None,
        }

    return work


def make_key(fields: Fields, models: Models) -> Work:
    """Work that returns a new key."""
    return lambda watch: {"key": Key.new().hex()}
