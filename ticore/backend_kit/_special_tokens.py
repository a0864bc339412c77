"""Texts in which special tokens stand by their names, such as those that chat templates write."""

from __future__ import annotations

import regex

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
    names = {tokenizer.token_name(token): token for token in tokenizer.special_ids}
    names.pop("", None)
    # The longest comes first, since one name may begin another.
    listed = "|".join(regex.escape(name) for name in sorted(names, key=len, reverse=True))
    parts = regex.split(f"({listed})", text) if names else [text]
    ids: list[int] = []
    for part in filter(None, parts):
        ids += [names[part]] if part in names else tokenizer.encode(part)
    return ids
