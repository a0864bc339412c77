"""What counts as text: Unicode without lone surrogates, which UTF-8 cannot write."""

from __future__ import annotations

from .errors import SettingsError


def require_unicode(text: str) -> None:
    """Raise SettingsError where `text` holds a lone surrogate.

    Libraries differ in what they do with one, from an odd exception to a silent change, so every
    tokenizer adapter asks here first.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise SettingsError(
            f"expected text that is valid Unicode, found the lone surrogate "
            f"U+{ord(text[error.start]):04X} at character {error.start}; remove it, or read the "
            f"text with errors='replace'"
        ) from None
