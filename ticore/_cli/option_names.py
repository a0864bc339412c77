"""What the errors of the library call things in Python, in the words of the command line."""

from __future__ import annotations

OPTION_NAMES = {
    "give key=ticore.Key.new()": "give --key-file FILE, which `ticore keygen` writes",
    "embed_parts hides longer messages in several texts": "--parts FOLDER hides longer messages in "
    "several texts",
    "pad='none'": "--pad none",
    "raise temperature or top_k": "raise --temperature or --top-k",
}

# What the parser of the command line says, in the words of all other errors.
_OF_PARSER = {
    "Input should be a valid number, unable to parse string as a number": "expected a number, "
    "such as 0.05",
    "Input should be a valid integer, unable to parse string as an integer": "expected a whole "
    "number",
}


def with_option_names(said: str) -> str:
    """An error's text for somebody who types commands.

    >>> with_option_names("8 bytes fit (4 if padded; pad='none' does not)")
    '8 bytes fit (4 if padded; --pad none does not)'
    """
    for name, option in (OPTION_NAMES | _OF_PARSER).items():
        said = said.replace(name, option)
    return said
