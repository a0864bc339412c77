"""The tokens that a model's files add to its tokenizer, such as the marks of a dialogue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ._files import MOST_OF_TOKENIZER
from ._json_files import read_optional_object


def find_added_tokens(folder: Path) -> frozenset[str]:
    """The texts of all tokens that are said to be added, in any of the files that say so.

    Only for a folder with a tokenizer.model, which may lack some of them: none for another one.

    Raises:
        ModelFilesError: one of the files is there and cannot be read.
    """
    if not (folder / "tokenizer.model").is_file():
        return frozenset()
    by_name = read_optional_object(folder / "added_tokens.json")
    by_id = read_optional_object(folder / "tokenizer_config.json").get("added_tokens_decoder")
    found = {*by_name, *(_contents(by_id.values()) if isinstance(by_id, Mapping) else ())}
    if not found:  # it is large, and is read only where no other file tells
        listed = read_optional_object(folder / "tokenizer.json", MOST_OF_TOKENIZER)
        found.update(_contents(listed.get("added_tokens")))
    return frozenset(found)


def _contents(tokens: object) -> Iterator[str]:
    for token in tokens if isinstance(tokens, Iterable) else ():
        content = token.get("content") if isinstance(token, Mapping) else None
        if isinstance(content, str):
            yield content
