"""Texts in which special tokens stand by their names, such as those that chat templates write."""

from __future__ import annotations

from collections.abc import Iterable

import regex

from ..errors import PromptError
from ..interfaces import NamingTokenizer, SpecialWritingTokenizer, Tokenizer


def encode_with_specials(tokenizer: Tokenizer, text: str) -> list[int]:
    """Ids of a text in which the names of special tokens stand for these tokens.

    Where the tokenizer's library never finds special tokens in a text (SentencePiece), the text is
    taken apart at their names, and each part is encoded alone, as its users do.

    Raises:
        SettingsError: the text holds a lone surrogate.
    """
    if isinstance(tokenizer, SpecialWritingTokenizer):
        return tokenizer.encode_with_specials(text)
    if not isinstance(tokenizer, NamingTokenizer):
        return tokenizer.encode(text)
    names = _special_names(tokenizer)
    # The longest comes first, since one name may begin another.
    listed = "|".join(regex.escape(name) for name in sorted(names, key=len, reverse=True))
    parts = regex.split(f"({listed})", text) if names else [text]
    ids: list[int] = []
    for part in filter(None, parts):
        ids += [names[part]] if part in names else tokenizer.encode(part)
    return ids


def require_tokens_in(tokenizer: Tokenizer, text: str, names: Iterable[str]) -> None:
    """Refuse a text with the name of a token that the tokenizer does not have.

    Args:
        tokenizer: reads the text.
        text: as a template writes it.
        names: of tokens that the model was trained with. White space may be read in other ways.

    Raises:
        PromptError: the model would read the letters of a name.
    """
    missing = {name for name in names if name.strip() and name in text}
    if missing and isinstance(tokenizer, NamingTokenizer):
        missing -= _special_names(tokenizer).keys()
    if missing:  # it may be an ordinary token
        known = {tokenizer.token_bytes(token) for token in range(tokenizer.vocab_size)}
        missing = {name for name in missing if name.encode() not in known}
    if missing:
        raise PromptError(
            f"expected a tokenizer that has the tokens of the model's template, found none for "
            f"{min(missing)!r}; tokenizer.json may have them: open the model with "
            f"tokenizer='tokenizers:DIR', where DIR is its directory"
        )


def _special_names(tokenizer: NamingTokenizer) -> dict[str, int]:
    """The special ids that have a name, by it."""
    names = {tokenizer.token_name(token): token for token in tokenizer.special_ids}
    names.pop("", None)
    return names
