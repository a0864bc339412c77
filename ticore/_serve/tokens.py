"""A text token by token, and what a receiver would read otherwise, as `ticore inspect`."""

from __future__ import annotations

from functools import partial
from typing import Any

from .._support.checks import checked_ids
from ..consistency import compare
from ..consistency._boundaries import special_name
from ..errors import CapacityError, UnscorableTextError
from ..report._inspection_page import inspection_body
from .fields import Fields
from .jobs import Watch, Work
from .models import Models

INSPECT_FIELDS = ("model", "text", "ids")
_MOST_TOKENS = 20_000  # a browser shows more than these slowly


def inspect(fields: Fields, models: Models) -> Work:
    """Work that compares tokens with those that their text is read back as."""
    place = fields.text("model")
    ids = fields.ids("ids") if "ids" in fields else None
    text = fields.text("text") if ids is None else None

    def work(watch: Watch) -> dict[str, Any]:
        tokenizer = models.model(place).tokenizer
        if ids is not None:
            tokens = checked_ids(ids, tokenizer.vocab_size)
        else:
            tokens = tokenizer.encode(text or "")
        if not tokens:
            raise UnscorableTextError("text: expected a text, found none; paste one")
        require_few(len(tokens))
        found = compare(tokenizer, tokens)
        name = partial(special_name, tokenizer)
        body = inspection_body(found, lambda token: tokenizer.token_bytes(token.id), text, name)
        return {"consistent": found.consistent, "html": "\n".join(body)}

    return work


def require_few(count: int) -> None:
    """Refuse more tokens than a browser shows quickly. Raises CapacityError."""
    if count > _MOST_TOKENS:
        raise CapacityError(
            f"text: expected at most {_MOST_TOKENS:,} tokens, found {count:,}; take a part of it"
        )
