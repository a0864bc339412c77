"""Every error a user can meet. Each text says what was expected, what was found, what to do.

TicoreError
├── SettingsError, WrongTypeError           an argument is wrong
├── CredentialError, AgreementError         a key, password or agreement is wrong
├── UnknownPlaceError, MissingExtraError    a model or tokenizer cannot be found
├── ModelFilesError, ModelError             a model or tokenizer cannot be used
├── FileError                               a file cannot be used
│   ├── InputFileError                      it cannot be read, or holds the wrong content
│   └── OutputFileError                     it cannot be written
├── PromptError, CapacityError              a text cannot be written
├── InconsistentStateError                  a method was called in the wrong state
├── UnscorableTextError                     a text cannot be searched for a watermark
└── ExtractionError                         a message cannot be read
    ├── BrokenCharacterError                no text is spelled by the tokens that were written
    ├── OutsidePoolError                    the text has a token that cannot have been written;
    │                                       its `place` says where
    ├── IncompleteMessageError              the text ends too early
    ├── MissingPartsError                   texts with parts of the message are missing
    └── AlteredTextError                    the text, the key or a setting is not the writer's
"""

from __future__ import annotations

import re
import reprlib
import warnings
from dataclasses import dataclass
from importlib import import_module
from typing import Any


class TicoreError(Exception):
    """Base of all errors that ticore raises on purpose; its text is meant for the user."""


class SettingsError(TicoreError, ValueError):
    """A setting is out of range, unknown, or does not go with another."""


class WrongTypeError(TicoreError, TypeError):
    """An argument is of another type than expected, such as text where bytes are."""


class UnknownPlaceError(TicoreError, LookupError):
    """A `BACKEND:LOCATION` names no backend or no bundled model."""


class MissingExtraError(TicoreError, ImportError):
    """A backend is known, but the packages it needs are not installed."""


class ModelFilesError(TicoreError):
    """A model or tokenizer is missing, damaged, or of a kind that is not supported."""


class ModelError(TicoreError):
    """A model gave logits that are not a distribution, such as NaN."""


class PromptError(TicoreError, ValueError):
    """The prompt does not survive its own tokenizer, or leaves no room to write."""


class InconsistentStateError(TicoreError, RuntimeError):
    """An operation does not fit the current state, such as candidates after inconsistent tokens."""


class CapacityError(TicoreError):
    """The message or text does not fit: no room, no entropy or no consistent token is left.

    Attributes:
        fitting_bytes: about how many bytes of a message fit; None if that is not known.
    """

    def __init__(self, text: str = "", *, fitting_bytes: int | None = None) -> None:
        super().__init__(text)
        self.fitting_bytes = fitting_bytes


class ExtractionError(TicoreError):
    """The text holds no message that these settings and this key can read."""


@dataclass(frozen=True)
class TextPlace:
    """Where a text leaves what can have been written.

    The first change to the text is in `found` or before it. It may be before: the changed words may
    be ones that could have been written too, and what followed them could not. With the
    disambiguations `stepwise` and `none` that holds of tokenizers that read each word by itself;
    with others, a change close after `found` may have had an effect there.

    Attributes:
        text: the text as it was read: what its channel makes of it, from where the message was
            taken to begin.
        start: offset in `text` of what cannot have been written, in characters.
        end: offset of what follows it; at the end of a word, or at that of the text.
        likely: up to five of the tokens that may stand at `start`, as text: the one that begins
            like what was found, then the most probable ones.
        received_start: `start` as an offset in the text that was received; None if what was read
            does not stand there as it is.
    """

    text: str
    start: int
    end: int
    likely: tuple[str, ...] = ()
    received_start: int | None = None

    def _repr_html_(self) -> str:
        # As in `_support.notebooks`, but errors import nothing.
        html: str = import_module("ticore.report._notebook").notebook_html(self)
        return html

    @property
    def before(self) -> str:
        """The text before it."""
        return self.text[: self.start]

    @property
    def found(self) -> str:
        """What cannot have been written there; empty if the text ends inside a token."""
        return self.text[self.start : self.end]


class BrokenCharacterError(ExtractionError):
    """The tokens that were written break a character: no text is spelled by their bytes."""


class OutsidePoolError(ExtractionError):
    """A token of the text could not have been written under these settings.

    Attributes:
        place: where; None if that was not looked for.
    """

    def __init__(self, message: str = "", place: TextPlace | None = None) -> None:
        super().__init__(message)
        self.place = place


class IncompleteMessageError(ExtractionError):
    """The text ends before the message does, or holds one part of a message in several texts.

    Attributes:
        is_part: whether it holds a part, whole and authentic.
    """

    def __init__(self, text: str = "", *, is_part: bool = False) -> None:
        super().__init__(text)
        self.is_part = is_part


class MissingPartsError(ExtractionError):
    """Parts of a message are missing, see `ticore.Steganographer.extract_parts`.

    Attributes:
        missing: their numbers, from 1 on.
    """

    def __init__(self, text: str, missing: tuple[int, ...] = ()) -> None:
        super().__init__(text)
        self.missing = missing


class AlteredTextError(ExtractionError):
    """A message was read, but it does not authenticate.

    The text was altered, or the key, the prompt or a setting is not the writer's.
    """


class UnscorableTextError(TicoreError, ValueError):
    """A text is too short to be searched for a watermark, or is not valid text."""


class _KeyFormatError(TicoreError, ValueError):
    """The former common class of the next two, so that `except KeyFormatError` catches both."""


class CredentialError(_KeyFormatError):
    """A key or a password is missing or malformed."""


class AgreementError(_KeyFormatError, SettingsError):
    """An agreement is malformed, or does not fit the model that it is used with."""


class FileError(TicoreError, OSError):
    """A file cannot be used: one of the next two says why."""


class InputFileError(FileError):
    """A file cannot be read, or it does not hold what it should."""


class OutputFileError(FileError):
    """A file cannot be written."""


def shown(value: object) -> str:
    """A value as an error's text repeats it: `repr`, shortened where it is long.

    What may be the digits of a key that stands in the wrong place is not repeated.

    >>> shown("a"), shown([1, 2]), shown("a" * 10**6)
    ("'a'", '[1, 2]', "'aaaaaaaaaaaaaaaaaaaaaaaaaaaa...aaaaaaaaaaaaaaaaaaaaaaaaaaaaa'")
    """
    if isinstance(value, str) and any(len({*digits}) > _FEW for digits in _HEX.findall(value)):
        return f"{len(value)} characters with hex digits like those of a key"
    try:
        return _SHORT.repr(value)
    except ValueError:  # Python writes no integers of thousands of digits.
        return f"a long {type(value).__name__}"


_HEX = re.compile("[0-9A-Fa-f]{32}")
_FEW = 4  # different digits: those of a random key are more
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 62


# Former names: what they stand for now, and what to write instead.
_FORMER: dict[str, tuple[type[TicoreError], str]] = {
    "AuthenticationError": (AlteredTextError, "AlteredTextError"),
    "KeyFormatError": (_KeyFormatError, "CredentialError or AgreementError"),
}


def __getattr__(name: str) -> Any:
    # `_support.deprecation` does the same for other modules, but errors import nothing.
    if name not in _FORMER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found, instead = _FORMER[name]
    warnings.warn(
        f"{__name__}.{name} is deprecated; use {instead}", DeprecationWarning, stacklevel=2
    )
    return found
