"""What the texts begin with."""

from __future__ import annotations

import json
from pathlib import Path

from ticore.errors import FileError

_BUILT_IN = (
    "The morning was cold and",
    "It was late in the evening when",
    "She opened the letter, and",
    "Nobody in the village had ever",
    "The old captain looked at the sea and",
    "When the war was over, my father",
    "There was a house at the end of the road, which",
    "They had been walking for three days, and",
    "The city was founded by",
    "In the spring of that year",
    "The best way to learn a language is",
    "Our company has been in business since",
)


def prompts(data: Path | None, language: str) -> list[str]:
    """Those of `data`/prompts, one a line in the field `text`, or those built in.

    Raises FileError if they cannot be read.
    """
    if data is None:
        return list(_BUILT_IN)
    file = data / "prompts" / f"{language}.jsonl"
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        found = [json.loads(line)["text"] for line in lines if line]
    except (OSError, ValueError, LookupError) as error:
        raise FileError(f"expected prompts in {file}, one JSON object a line: {error}") from error
    if not found:
        raise FileError(f"expected prompts in {file}, found none")
    return found
