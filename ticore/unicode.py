"""What counts as text: Unicode without lone surrogates, which UTF-8 cannot write."""

from __future__ import annotations

from .errors import SettingsError, WrongTypeError


def require_unicode(text: str) -> None:
    """Raise SettingsError where `text` holds a lone surrogate, WrongTypeError where it is no str.

    Libraries differ in what they do with one, from an odd exception to a silent change, so every
    tokenizer adapter asks here first.
    """
    require_text(text)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise SettingsError(
            f"expected text that is valid Unicode, found the lone surrogate "
            f"U+{ord(text[error.start]):04X} at character {error.start}; remove it, or read the "
            f"text with errors='replace'"
        ) from None


def require_text(text: object) -> None:
    """Raise WrongTypeError where `text` is no str."""
    if not isinstance(text, str):
        decode = "; decode it first: text.decode()" if isinstance(text, bytes | bytearray) else ""
        raise WrongTypeError(f"expected a text (str), found {type(text).__name__}{decode}")
