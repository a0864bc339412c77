"""The options of `load_model`: checked alike by all backends, before anything is read."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..._support.checks import require_one_of
from ...errors import SettingsError, shown


def dtype_and_tokenizer(
    options: Mapping[str, object], dtypes: Collection[str], kind: str
) -> tuple[str, str | None]:
    """The options of a backend that has no others.

    Args:
        options: as `load_model` was given them.
        dtypes: the number formats that the backend computes in.
        kind: what the error texts call its models, such as `an embedded model`.

    Raises:
        SettingsError: an unknown option, or a value that it does not take.
    """
    require_known_options(options, ("dtype", "tokenizer"), kind)
    return dtype_option(options, dtypes), text_option(options, "tokenizer")


def require_known_options(options: Mapping[str, object], known: Collection[str], kind: str) -> None:
    """Refuse options that a backend does not have.

    Args:
        options: as `load_model` was given them.
        known: the names of those that it has.
        kind: what the error text calls its models.

    Raises:
        SettingsError: there is another one.
    """
    for name in options:
        if name not in known:
            raise SettingsError(
                f"unknown option {name!r} for {kind}: the options are {', '.join(known)}; leave it "
                f"out, or correct its name"
            )


def dtype_option(options: Mapping[str, object], dtypes: Collection[str]) -> str:
    """The number format, float32 if none is given.

    Raises:
        SettingsError: it is not one of `dtypes`.
    """
    return str(require_one_of("dtype", options.get("dtype", "float32"), dtypes))


def text_option(options: Mapping[str, object], name: str) -> str | None:
    """An option that is a text, such as the place of another tokenizer; None if it is not given.

    Raises:
        SettingsError: it is something else.
    """
    found = options.get(name)
    if not isinstance(found, str | None):
        raise SettingsError(f"{name}: expected a text or None, found {shown(found)}")
    return found
