"""The options of `load_model` that backends without choices of their own take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...errors import SettingsError

_OPTIONS = ("dtype", "tokenizer")


def dtype_and_tokenizer(
    options: Mapping[str, object], dtypes: Sequence[str], kind: str
) -> tuple[str, str | None]:
    """The number format, float32 if none is given, and the place of another tokenizer.

    Args:
        options: as `load_model` was given them.
        dtypes: those that the backend computes in.
        kind: what the error texts call its models, such as `an embedded model`.

    Raises:
        SettingsError: an unknown option, or a value that it does not take.
    """
    for name in options:
        if name not in _OPTIONS:
            raise SettingsError(
                f"unknown option {name!r} for {kind}: the options are {', '.join(_OPTIONS)}"
            )
    dtype, tokenizer = options.get("dtype", "float32"), options.get("tokenizer")
    if dtype not in dtypes:
        raise SettingsError(f"expected dtype to be one of {', '.join(dtypes)}, found {dtype!r}")
    if not isinstance(tokenizer, str | None):
        raise SettingsError(f"expected tokenizer to be a place or None, found {tokenizer!r}")
    return str(dtype), tokenizer
