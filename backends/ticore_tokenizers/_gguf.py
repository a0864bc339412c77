"""From the tokenizer of a GGUF file to a tokenizer.json.

A GGUF file does not hold the expressions that split a text, but a name that llama.cpp has given to
them. The table below has them as the tokenizer.json files of these models do.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from ticore.backend_kit.checkpoint import GgufVocabulary, TokenKind
from ticore.errors import ModelFilesError


@dataclass(frozen=True)
class _Splitting:
    """What happens to a text before its parts are merged.

    Attributes:
        expressions: the text is split by the first, its parts by the next, and so on.
        composed: whether it is first normalized to NFC.
        whole: whether a part that is a token stays whole, even if merging would not give it.
    """

    expressions: tuple[str, ...]
    composed: bool = False
    whole: bool = False


_WORDS = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"  # GPT-2's
_CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_LINES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
# Letters in upper case, then in lower case; or letters in upper case alone.
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_CASED = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+",
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*",
)
_LLAMA_3 = _Splitting(
    (
        rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}"
        rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_LINES}",
    ),
    whole=True,
)
_DIGITS_APART = _Splitting((r"\p{N}", _WORDS))
_SPLITTINGS = {
    "gpt-2": _Splitting((_WORDS,)),
    "phi-2": _Splitting((_WORDS,)),
    "smollm": _DIGITS_APART,
    "starcoder": _DIGITS_APART,
    "llama-bpe": _LLAMA_3,
    "llama3": _LLAMA_3,
    "llama-v3": _LLAMA_3,
    "qwen2": _Splitting(
        (
            rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}"
            rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_LINES}",
        ),
        composed=True,  # as in its tokenizer.json; llama.cpp itself normalizes nothing
    ),
    "deepseek-coder": _Splitting(
        (r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-퟿]+", r"\p{N}")
    ),
    "deepseek-v3": _Splitting(
        (
            r"\p{N}{1,3}",
            "[一-龥぀-ゟ゠-ヿ]+",
            r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"
            r"|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
            rf"|{_LINES}",
        )
    ),
    "tekken": _Splitting(
        (rf"{_CASED[0]}|{_CASED[1]}|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_LINES}",),
        whole=True,
    ),
    "gpt-4o": _Splitting(
        (
            rf"{_CASED[0]}{_CONTRACTIONS}?|{_CASED[1]}{_CONTRACTIONS}?|\p{{N}}{{1,3}}"
            rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_LINES}",
        )
    ),
}


def json_of(vocabulary: GgufVocabulary) -> bytes:
    """A tokenizer.json with the same ids.

    Raises:
        ModelFilesError: the tokenizer is of another kind, or splits texts in a way that is not
            known here.
    """
    if vocabulary.kind != "gpt2":
        raise ModelFilesError(
            f"expected a byte-level BPE tokenizer (gpt2), found {vocabulary.kind!r}; open it with "
            f"sentencepiece:FILE"
        )
    splitting = _SPLITTINGS.get(vocabulary.pretokenizer)
    if splitting is None:
        raise ModelFilesError(
            f"expected tokenizer.ggml.pre to be one of {', '.join(_SPLITTINGS)}, found "
            f"{vocabulary.pretokenizer!r}, of which it is not known here how it splits a text; "
            f"open the tokenizer.json of the model instead"
        )
    tokens = {
        text: token
        for token, (text, kind) in enumerate(zip(vocabulary.tokens, vocabulary.kinds, strict=True))
        if kind != TokenKind.UNUSED
    }
    state = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            _added(token, vocabulary.tokens[token], kind != TokenKind.USER_DEFINED)
            for token, kind in enumerate(vocabulary.kinds)
            if kind in (TokenKind.CONTROL, TokenKind.UNKNOWN, TokenKind.USER_DEFINED)
        ],
        "normalizer": {"type": "NFC"} if splitting.composed else None,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                *(_split(expression) for expression in splitting.expressions),
                _byte_level(),
            ],
        },
        "post_processor": None,
        "decoder": _byte_level(),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": splitting.whole,
            "vocab": tokens,
            "merges": list(vocabulary.merges),
        },
    }
    return json.dumps(state, ensure_ascii=False).encode()


def _added(token: int, text: str, special: bool) -> dict[str, object]:
    return {
        "id": token,
        "content": text,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": special,
    }


def _split(expression: str) -> dict[str, object]:
    pattern = {"Regex": expression}
    return {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}


def _byte_level() -> dict[str, object]:
    return {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": False,
    }
