"""Every error a user can meet. Each text says what was expected, what was found, what to do."""

from __future__ import annotations

import reprlib


class TicoreError(Exception):
    """Base of all errors that ticore raises on purpose; its text is meant for the user."""


class SettingsError(TicoreError, ValueError):
    """A setting is out of range, unknown, or does not go with another."""


class WrongTypeError(TicoreError, TypeError):
    """An argument is of another type than expected, such as text where bytes are."""


class UnknownPlaceError(TicoreError, LookupError):
    """A `BACKEND:LOCATION` names no backend or no embedded model."""


class MissingExtraError(TicoreError, ImportError):
    """A backend is known, but the packages it needs are not installed."""


class ModelFilesError(TicoreError):
    """A model or tokenizer is missing, damaged, or of a kind that is not supported."""


class ModelError(TicoreError):
    """A model answered with something that is no distribution, such as NaN logits."""


class PromptError(TicoreError, ValueError):
    """The prompt does not survive its own tokenizer, or leaves no room to write."""


class InconsistentStateError(TicoreError, RuntimeError):
    """Candidates were asked for while the list of tokens is itself inconsistent."""


class CapacityError(TicoreError):
    """The message does not fit: context full, no entropy left, or no consistent token."""


class ExtractionError(TicoreError):
    """The text holds no message that these settings and this key can read."""


class OutsidePoolError(ExtractionError):
    """A token of the text could not have been written under these settings."""


class IncompleteMessageError(ExtractionError):
    """The text ends before the message does."""


class AuthenticationError(ExtractionError):
    """A message was read, but its tag does not fit: other key, prompt, settings, or altered."""


class UnscorableTextError(TicoreError, ValueError):
    """A text is too short to be looked at for a watermark, or is no text."""


class KeyFormatError(TicoreError, ValueError):
    """A key, password or agreement file is not of the expected form."""


class FileError(TicoreError, OSError):
    """A file cannot be read or written, or holds something else than it should."""


def shown(value: object) -> str:
    """A value as an error's text repeats it: `repr`, shortened where it is long.

    >>> shown("a"), shown([1, 2]), shown("a" * 10**6)
    ("'a'", '[1, 2]', "'aaaaaaaaaaaaaaaaaaaaaaaaaaaa...aaaaaaaaaaaaaaaaaaaaaaaaaaaaa'")
    """
    try:
        return _SHORT.repr(value)
    except ValueError:  # Python writes no integers of thousands of digits.
        return f"a long {type(value).__name__}"


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 62
