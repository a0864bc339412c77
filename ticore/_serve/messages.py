"""Messages in and out of text, as `ticore embed` and `ticore extract`."""

from __future__ import annotations

from typing import Any

from ..errors import CapacityError
from ..steganography._keys import password_advice
from .fields import Fields
from .jobs import Watch, Work
from .models import Models
from .sharing import FIELDS, Shared

WRITE_FIELDS = (*FIELDS, "message")
READ_FIELDS = (*FIELDS, "text")


def write(fields: Fields, models: Models) -> Work:
    """Work that hides a message, and shows the text while it grows."""
    shared, message = Shared.of(fields), fields.text("message")

    def work(watch: Watch) -> dict[str, Any]:
        stego = shared.steganographer(models)
        data = message.encode()
        try:
            written = stego.embed(data, progress=watch.progress, follower=watch.text)
        except CapacityError as error:
            if not error.fitting_bytes:
                raise
            fits = error.fitting_bytes * len(message) // len(data)
            raise CapacityError(
                f"message: expected one that fits into a text of this model, of about {fits:,} "
                f"characters at most, found {len(message):,}; send a shorter message, or two"
            ) from None
        return {
            "text": written.text,
            "tokens": written.token_count,
            "bits": written.bits,
            "seconds": written.seconds,
            "advice": "" if shared.password is None else password_advice(shared.password),
        }

    return work


def read(fields: Fields, models: Models) -> Work:
    """Work that finds the message of a text, also of one that was changed on its way."""
    shared, text = Shared.of(fields), fields.text("text")

    def work(watch: Watch) -> dict[str, Any]:
        stego = shared.steganographer(models)
        found = stego.extract_pasted(text, progress=watch.progress, tick=watch.require_wanted)
        try:
            message = found.message.decode()
        except UnicodeDecodeError:
            return {"message": None, "hex": found.message.hex(), "undone": found.undone}
        return {"message": message, "undone": found.undone}

    return work
