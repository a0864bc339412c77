"""The bytes of one token under the decoder of a tokenizer.json.

A decoder turns a list of tokens into text. The decoders below do so token by token, except for the
leading space. `spelling` gives the function from one token to its bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ticore.backend_kit import byte_alphabet
from ticore.errors import ModelFilesError

Spelling = Callable[[str], bytes]

# The library's parser of numbers takes a plus sign.
_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2}|\+[0-9A-Fa-f])>")
_LLAMA_STEPS = ["Replace", "ByteFallback", "Fuse"]
# Decoders that put spaces between words, whether the text had some or not.
_JOINING_WORDS = ("WordPiece", "BPEDecoder", "CTC")
_ONE_LEADING_SPACE = {"type": "Strip", "content": " ", "start": 1, "stop": 0}


def spelling(decoder: Mapping[str, Any] | None) -> Spelling:
    """The function from a token's name to its bytes, under `decoder`.

    Args:
        decoder: the field of that name in a tokenizer.json.

    Raises:
        ModelFilesError: under this decoder a token alone has no bytes.

    >>> spelling({"type": "ByteLevel"})("Ġthe")
    b' the'
    """
    match decoder:
        case {"type": "ByteLevel"}:
            return _byte_level
        case {"type": "Metaspace", "replacement": str(mark)}:
            return lambda token: token.replace(mark, " ").encode()
        case {"type": "Sequence", "decoders": [*steps]} if _is_llama(steps):
            old, new = steps[0]["pattern"]["String"], steps[0]["content"]
            return lambda token: _byte_or_text(token.replace(old, new))
    raise ModelFilesError(
        f"expected a decoder that spells each token by itself (ByteLevel, Metaspace, or "
        f"{', '.join(_LLAMA_STEPS)} and perhaps Strip), found {_name(decoder)}; {_advice(decoder)}"
    )


def require_no_suffix(model: Mapping[str, Any]) -> None:
    """Refuse a model whose words end in a suffix: no decoder accepted here removes it.

    Args:
        model: the field of that name in a tokenizer.json.

    Raises:
        ModelFilesError: there is such a suffix.
    """
    suffix = model.get("end_of_word_suffix")
    if suffix and any(name.removesuffix(suffix) not in ("", name) for name in model["vocab"]):
        raise ModelFilesError(
            f"expected tokens that are written as they are read, found words that end in "
            f"{suffix!r}, which the decoder writes into the text; choose another tokenizer: this "
            f"one, like CLIP's, reads no text back as the tokens it was written from"
        )


def strips_a_space(decoder: Mapping[str, Any]) -> bool:
    """Whether a decoder that `spelling` accepts removes a leading space."""
    match decoder:
        case {"type": "Metaspace", "prepend_scheme": str(scheme)}:
            return scheme != "never"
        case {"type": "Sequence", "decoders": [*steps]}:
            return _ONE_LEADING_SPACE in steps
    return False


def letters_of_texts() -> frozenset[str]:
    """The characters of `byte_alphabet` without the 13 bytes that UTF-8 never has."""
    never = {0xC0, 0xC1, *range(0xF5, 0x100)}
    return frozenset(letter for letter, byte in byte_alphabet().items() if byte not in never)


# By code point. A character outside the alphabet becomes, or stays, one that Latin-1 lacks.
_OUTSIDE = 0x100
_BYTES = dict.fromkeys(range(0x100), _OUTSIDE) | {
    ord(letter): byte for letter, byte in byte_alphabet().items()
}


def _byte_level(token: str) -> bytes:
    try:
        return token.translate(_BYTES).encode("latin-1")
    except UnicodeEncodeError:
        # As in the library: with one character outside the alphabet, the token is plain text.
        return token.encode()


def _byte_or_text(token: str) -> bytes:
    byte = _BYTE_TOKEN.fullmatch(token)
    return bytes([int(byte[1], 16)]) if byte else token.encode()


def _is_llama(steps: list[Any]) -> bool:
    return (
        [step["type"] for step in steps[:3]] == _LLAMA_STEPS
        and "String" in steps[0]["pattern"]
        and steps[3:] in ([], [_ONE_LEADING_SPACE])
    )


def _advice(decoder: Mapping[str, Any] | None) -> str:
    if decoder is not None and decoder["type"] in _JOINING_WORDS:
        return (
            "choose another tokenizer: a text that this one writes, like BERT's, does not say "
            "where its tokens had spaces"
        )
    return "if the vocabulary was made by SentencePiece, open its .model with sentencepiece:FILE"


def _name(decoder: Mapping[str, Any] | None) -> str:
    if decoder is None:
        return "none"
    steps = decoder.get("decoders")
    return f"Sequence({', '.join(map(_name, steps))})" if steps else str(decoder["type"])
