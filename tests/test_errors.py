"""Errors: their kinds, and the names that they had before."""

import pytest

from ticore import errors
from ticore.errors import (
    AgreementError,
    AlteredTextError,
    CredentialError,
    FileError,
    InputFileError,
    OutputFileError,
)


@pytest.mark.parametrize("kind", [CredentialError, AgreementError])
def test_former_key_format_error_catches_what_took_its_place(kind):
    with pytest.warns(DeprecationWarning, match="use CredentialError or AgreementError"):
        former = errors.KeyFormatError
    with pytest.raises(former):
        raise kind("missing")
    assert issubclass(kind, ValueError)


def test_former_authentication_error_is_the_altered_text_error():
    with pytest.warns(DeprecationWarning, match="AuthenticationError is deprecated; use Altered"):
        assert errors.AuthenticationError is AlteredTextError


@pytest.mark.parametrize("kind", [InputFileError, OutputFileError])
def test_file_errors_are_caught_by_their_base_and_as_os_errors(kind):
    assert issubclass(kind, FileError)
    assert issubclass(kind, OSError)


def test_unknown_error_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'NoSuchError'"):
        errors.NoSuchError  # noqa: B018  # the access itself is what fails


def test_docstring_of_errors_lists_every_error():
    kinds = {name for name, value in vars(errors).items() if isinstance(value, type)}
    public = {name for name in kinds if name.endswith("Error") and not name.startswith("_")}
    assert public <= set(errors.__doc__.replace(",", " ").split())
