"""Files of tokenizers. A loaded tokenizer must encode, decode, and work in a Verifier."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from functools import cache, partial
from pathlib import Path
from random import Random

from sentencepiece import sentencepiece_model_pb2

from tests.fuzz.mutations import damaged_bytes, damaged_json, damaged_lines
from tests.support.tokenizers import HUGGING_FACE, O200K_PATTERN, TRAINED, ranks_of_trained
from ticore.consistency import Verifier
from ticore.interfaces import Tokenizer
from ticore.registry import load_tokenizer
from ticore_tiktoken._ranks import write_ranks

from .base import Parser

TEXTS = ("", "The quick fox, 12!", "  naïve\n\u2581 東京 \U0001f600 e\u0301", "<unk></s>\0")
# A small character map: damage to its index is the most dangerous.
MAP = (4 * 512).to_bytes(4, "little") + bytes(4 * 512) + b"a\0bc\0"


def exercise(tokenizer: Tokenizer) -> None:
    for text, ids in zip(TEXTS, tokenizer.encode_batch(TEXTS), strict=True):
        assert tokenizer.encode(text) == ids, "ids that depend on the batch"
        assert all(0 <= i < tokenizer.vocab_size for i in ids), "ids out of range"
        tokenizer.decode(ids)
    some = range(0, tokenizer.vocab_size, 1 + tokenizer.vocab_size // 50)
    tokenizer.decode([*some])
    assert all(isinstance(tokenizer.token_bytes(i), bytes) for i in some)
    tokenizer.structure()
    tokenizer.digest()


def verify(tokenizer: Tokenizer) -> None:
    """Ask a Verifier which tokens may follow, as a writer does at each step."""
    verification = Verifier(tokenizer).start()
    for token in tokenizer.encode(TEXTS[1])[:4]:
        if verification.admissible:
            verification.admits([token])
        verification.push(token)


def open_file(place: str, content: bytes, path: Path, check=exercise) -> None:
    path.write_bytes(content)
    check(load_tokenizer(place.format(path)))


@cache
def states() -> list[bytes]:
    """Small tokenizers in which each component of the library occurs."""
    small = [json.loads(HUGGING_FACE[name]()._library.to_str()) for name in SMALL]
    base = small[0] | {"normalizer": None, "pre_tokenizer": None, "added_tokens": []}
    bytes_ = base["model"] | {"vocab": dict.fromkeys(base["model"]["vocab"]), "merges": []}
    bytes_["vocab"] = {name: i for i, name in enumerate(bytes_["vocab"]) if len(name) == 1}
    mapped = {"type": "Precompiled", "precompiled_charsmap": b64encode(MAP).decode()}
    words = {"[UNK]": 0, "the": 1, "##e": 2, "q": 3, "fox": 4}
    common = {"unk_token": "[UNK]", "vocab": words}
    return [
        json.dumps(state).encode()
        for state in (
            *small,
            base | {"model": bytes_, "normalizer": mapped},
            base
            | {
                "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, *NORMALIZERS]},
                "pre_tokenizer": {"type": "Sequence", "pretokenizers": SPLITS},
                "model": {"type": "WordLevel", **common},
            },
            base
            | {
                "normalizer": BERT,
                "pre_tokenizer": {"type": "BertPreTokenizer"},
                "post_processor": CLS,
                "model": {
                    "type": "WordPiece",
                    "continuing_subword_prefix": "##",
                    "max_input_chars_per_word": 100,
                    **common,
                },
                "truncation": TRUNCATION,
                "padding": PADDING,
            },
            base
            | {
                "normalizer": mapped,
                "decoder": METASPACE,
                "pre_tokenizer": METASPACE,
                "model": {
                    "type": "Unigram",
                    "unk_id": 0,
                    "vocab": [["<unk>", 0.0], ["\u2581", -2.0], ["a", -1.0], ["\u2581the", -1.5]],
                    "byte_fallback": False,
                },
            },
        )
    ]


SMALL = ("hf-two-splits", "hf-llama", "hf-metaspace", "hf-ignore-merges")
METASPACE = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always"}
METASPACE |= {"split": True}
BERT = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True}
BERT |= {"strip_accents": None, "lowercase": True}
CLS = {
    "type": "TemplateProcessing",
    "single": [
        {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
    ],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}],
    "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [0], "tokens": ["[CLS]"]}},
}
TRUNCATION = {"direction": "Right", "max_length": 512, "strategy": "LongestFirst", "stride": 0}
PADDING = {"strategy": {"Fixed": 512}, "direction": "Right", "pad_to_multiple_of": None}
PADDING |= {"pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}
NORMALIZERS = [
    {"type": "Strip", "strip_left": True, "strip_right": True},
    {"type": "StripAccents"},
    {"type": "Prepend", "prepend": "_"},
    {"type": "Replace", "pattern": {"Regex": "x+"}, "content": "y"},
    {"type": "Replace", "pattern": {"String": "``"}, "content": '"'},
    {"type": "Nmt"},
    {"type": "Lowercase"},
]
SPLITS = [
    {"type": "WhitespaceSplit"},
    {"type": "Punctuation", "behavior": "Isolated"},
    {"type": "Digits", "individual_digits": True},
    {"type": "UnicodeScripts"},
    {"type": "CharDelimiterSplit", "delimiter": "q"},
    {"type": "FixedLength", "length": 5},
    {"type": "Split", "pattern": {"Regex": "a|b"}, "behavior": "Removed", "invert": True},
    METASPACE,
]


def damaged_state(draw: Random, data: bytes) -> bytes:
    """A tokenizer.json with its JSON changed, or the character map in its normalizer."""
    state = json.loads(data)
    normalizer = state["normalizer"]
    if normalizer and normalizer["type"] == "Precompiled" and draw.random() < 0.6:
        charsmap = b64decode(normalizer["precompiled_charsmap"])
        damaged = damaged_bytes(draw, charsmap)
        normalizer["precompiled_charsmap"] = b64encode(damaged).decode()
        return json.dumps(state).encode()
    return damaged_json(draw, data)


@cache
def tekkens() -> list[bytes]:
    """A tekken.json of Mistral that names its special tokens, and one that does not."""
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [token for token in ranks_of_trained() if len(token) > 1]
    vocab = [
        {"rank": rank, "token_bytes": b64encode(token).decode(), "token_str": None}
        for rank, token in enumerate(tokens)
    ]
    config = {"pattern": O200K_PATTERN, "default_vocab_size": len(tokens) - 3, "version": "v3"}
    config |= {"default_num_special_tokens": 20, "num_vocab_tokens": len(tokens)}
    names = [{"rank": 0, "token_str": "<unk>", "is_control": True}]
    return [
        json.dumps({"vocab": vocab, "config": config} | more).encode()
        for more in ({}, {"special_tokens": names})
    ]


def open_tekken(content: bytes, path: Path) -> None:
    open_file("tiktoken:{}", content, path.with_name("tekken.json"))


@cache
def models() -> list[bytes]:
    names = ("sp-bpe-added", "sp-unigram", "sp-unigram-nfkc", "sp-bpe-no-bytes")
    return [TRAINED[name]()._library.serialized_model_proto() for name in names]


def damaged_model(draw: Random, data: bytes) -> bytes:
    """A .model with bytes changed, or one of its fields."""
    if draw.random() < 0.4:
        return damaged_bytes(draw, data)
    model = sentencepiece_model_pb2.ModelProto.FromString(data)
    for _ in range(draw.choice((1, 1, 2, 4))):
        _change_a_field(draw, model)
    return model.SerializeToString()


def _change_a_field(draw: Random, message) -> None:
    """Set a field of the message, or of an inner message, to an odd value of its type."""
    fields = [field for field, _ in message.ListFields()]
    field = draw.choice(fields or list(message.DESCRIPTOR.fields))
    found = getattr(message, field.name)
    if field.message_type is not None:
        within = found
        if hasattr(found, "add"):  # a list of messages
            within = found[draw.randrange(len(found))] if found else found.add()
            if draw.random() < 0.1:
                del found[draw.randrange(len(found)) :]
                return
        _change_a_field(draw, within)
        return
    if hasattr(found, "append"):
        found.append(draw.choice(ODD_TEXTS))
        return
    kind = type(found)
    odd = {
        bool: (not found,),
        str: ODD_TEXTS,
        bytes: ODD_BYTES,
        float: ODD_FLOATS,
        int: ODD_INTEGERS,
    }
    try:
        setattr(message, field.name, draw.choice(odd[kind]))
    except ValueError:  # out of the range of the type, or not in the enumeration
        setattr(message, field.name, draw.choice((1, 2, 3)))


ODD_TEXTS = ("", " ", "\u2581", "\u2581" * 3, "\0", "a", "<0x41>", "<s>", "é" * 500, "\U0001f600")
ODD_BYTES = (b"", b"\xff" * 8, MAP, MAP[:-1], b"\xff\xff\xff\x7f" + bytes(40), bytes(4), bytes(300))
ODD_FLOATS = (0.0, -0.0, float("nan"), float("inf"), float("-inf"), 1e30, -1e-40)
ODD_INTEGERS = (-1, 0, 1, 2, 3, 255, 10**6, 2**31 - 1, -(2**31))

PARSERS = [
    Parser("tokenizer.json", states, damaged_state, partial(open_file, "tokenizers:{}")),
    Parser(
        "tokenizer.json and a Verifier",
        lambda: states()[: len(SMALL)],
        damaged_state,
        partial(open_file, "tokenizers:{}", check=verify),
    ),
    Parser("tokenizer.model", models, damaged_model, partial(open_file, "sentencepiece:{}")),
    Parser(
        "ranks.tiktoken",
        lambda: [write_ranks(ranks_of_trained())],
        damaged_lines,
        partial(open_file, "tiktoken:{}#o200k"),
    ),
    Parser("tekken.json", tekkens, damaged_json, open_tekken),
]
