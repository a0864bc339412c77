"""The prompts that texts start with."""

from __future__ import annotations

import json
from pathlib import Path

from ticore.errors import InputFileError

_BUNDLED = (
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


def load_prompts(data: Path | None, language: str) -> list[str]:
    """The prompts of a folder, or the bundled English ones.

    Args:
        data: a folder with `prompts/LANGUAGE.jsonl`, one JSON object with a field `text` per line;
            None: the bundled prompts.
        language: such as `en`; counts only where `data` is given.

    Raises:
        InputFileError: the file cannot be read, or holds no prompts.
    """
    if data is None:
        return list(_BUNDLED)
    file = data / "prompts" / f"{language}.jsonl"
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        prompts = [json.loads(line)["text"] for line in lines if line]
    except (OSError, ValueError, LookupError) as error:
        raise InputFileError(
            f"expected prompts in {file}, one JSON object with a field 'text' per line: {error}; "
            f"name a folder that has this file with --data, or leave --data out"
        ) from error
    if not prompts:
        raise InputFileError(
            f"expected prompts in {file}, found none; add lines such as "
            f'{{"text": "The morning was cold and"}}'
        )
    return prompts
