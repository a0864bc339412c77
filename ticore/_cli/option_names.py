"""What the errors of the library call things in Python, in the words of the command line."""

from __future__ import annotations

import re
from collections.abc import Mapping

OPTION_NAMES = {
    "give key=ticore.Key.new()": "give --key-file FILE, which `ticore keygen` writes",
    "embed_parts hides longer messages in several texts": "--parts FOLDER hides longer messages in "
    "several texts",
    "pad='none'": "--pad none",
    "raise temperature or top_k": "raise --temperature or --top-k",
    "lower grid_bits or top_k": "lower --top-k",
    "use view 'continuation'": "use --view continuation",
    "window: expected one beside edits, such as 4, found None": "--window: expected one beside "
    "--edits, such as 4, found none",
    "top_k: expected an integer of at least 1": "top_k: expected an integer of at least 1, or 0 "
    "for all tokens",
    "an integer of at least 0, or None": "an integer of at least 0",
    "or give payload_bits": "or give --payload-bits",
    "give payload= as bytes or hex digits": "give --payload HEX",
}

# What the parser of the command line says, in the words of all other errors.
_OF_PARSER = {
    "Input should be a valid number, unable to parse string as a number": "expected a number, "
    "such as 0.05",
    "Input should be a valid integer, unable to parse string as an integer": "expected a whole "
    "number",
}
# Settings that a command has under another name.
_PARAMETERS = {"version": "scheme_version", "lengths": "length"}
_SETTINGS_OF_A_SCHEME = re.compile(r"(?<= has, found )([\w, ]+)(; it has )([\w, ]+)(?=: correct)")


def option_of(setting: str) -> str:
    """The option for a setting of the library.

    >>> option_of("top_k"), option_of("version")
    ('--top-k', '--scheme-version')
    """
    return "--" + _parameter(setting).replace("_", "-")


def with_option_names(said: str, given: Mapping[str, object] | None = None) -> str:
    """An error's text for somebody who types commands.

    Args:
        said: the error's text.
        given: the parameters of the command, with None for options that were not given.

    >>> with_option_names("8 bytes fit (4 if padded; pad='none' does not)")
    '8 bytes fit (4 if padded; --pad none does not)'
    >>> with_option_names("top_p: expected less, found 2", {"top_p": 2})
    '--top-p: expected less, found 2'
    """
    for name, option in (OPTION_NAMES | _OF_PARSER).items():
        said = said.replace(name, option)
    given = given or {}
    setting, colon, rest = said.partition(": ")
    # A file may hold a setting of this name, too: what it says is not about the option.
    if given.get(_parameter(setting)) is not None:
        said = option_of(setting) + colon + rest
    return _SETTINGS_OF_A_SCHEME.sub(
        lambda found: f"{_options(found[1], given)}{found[2]}{_options(found[3], given)}", said
    )


def _options(settings: str, given: Mapping[str, object]) -> str:
    """Those of a list of settings that the command has options for."""
    known = (each for each in settings.split(", ") if _parameter(each) in given)
    return ", ".join(map(option_of, known)) or "none"


def _parameter(setting: str) -> str:
    return _PARAMETERS.get(setting, setting)
