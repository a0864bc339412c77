"""Files and texts of the two sides of a message: keys, agreements, ids and texts."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

from tests.fuzz.mutations import damaged_bytes, damaged_json
from tests.support.tokenizers import TRAINED
from tests.support.toy_models import ToyModel
from ticore._cli.inspection import parse_ids
from ticore._cli.streams import decode_text
from ticore.consistency import compare
from ticore.evaluation.attacks._endpoint import EndpointParaphrase
from ticore.keys import format_key, parse_key
from ticore.steganography import Agreement, Steganographer
from ticore.steganography._frame import FrameReader, seal
from ticore.steganography._keys import Secret
from ticore.steganography._payload import Payload

from .base import Parser

KEY = bytes(range(32))
MESSAGE = b"to you"
DIGEST = bytes(32)


@cache
def model() -> ToyModel:
    return ToyModel(TRAINED["sp-bpe"](), sharpness=1.0)


@cache
def sender() -> Steganographer:
    entropy = Random(3).randbytes
    return Steganographer(
        model(), key=KEY, prompt="the", finish="none", pad="none", entropy=entropy
    )


@cache
def texts() -> list[bytes]:
    return [sender().embed(MESSAGE).text.encode() for _ in range(3)]


def extract(content: bytes, _: Path) -> None:
    found = sender().extract(decode_text(content, "standard input"))
    assert found == MESSAGE, f"another message: {found!r}"


def open_agreement_file(content: bytes, _: Path) -> None:
    agreement = Agreement.loads(decode_text(content, "agreement.json"), "agreement.json")
    reader = Steganographer.from_agreement(agreement, model=model())
    found = reader.extract(texts()[0].decode())
    assert found == MESSAGE, f"another message: {found!r}"


def open_agreement(content: bytes, _: Path) -> None:
    try:
        values = json.loads(content)
    except (
        ValueError,
        RecursionError,
    ):  # `open_agreement_file` reads files, and this what they hold
        return
    Agreement.from_dict(values).digest()


def open_frame(content: bytes, _: Path) -> None:
    opener = FrameReader(Secret.from_key(KEY), DIGEST)
    for byte in content:
        opener.feed(byte, 8)
    found = opener.payload().message()
    assert found in (b"", MESSAGE, MESSAGE * 50), f"another message: {found!r}"


def frames() -> list[bytes]:
    draw, secret = Random(4), Secret.from_key(KEY)
    return [
        seal(Payload.of(message), secret, DIGEST, draw.randbytes)
        for message in (b"", MESSAGE, MESSAGE * 50)
    ]


def read_ids(content: bytes, _: Path) -> None:
    tokenizer = model().tokenizer
    ids = parse_ids(decode_text(content, "ids.json"), "ids.json", tokenizer.vocab_size)
    compare(tokenizer, ids)


def damaged_text(draw: Random, data: bytes) -> bytes:
    """A text with bytes changed anywhere, or pieces replaced by tokens of the model."""
    if draw.random() < 0.5:
        return damaged_bytes(draw, data)
    at = draw.randrange(len(data))
    tokenizer = model().tokenizer
    piece = tokenizer.token_bytes(draw.randrange(tokenizer.vocab_size))
    return data[:at] + piece + data[at + draw.choice((0, len(piece))) :]


class Answered(EndpointParaphrase):
    """An endpoint that gives one fixed answer."""

    def __init__(self, answer: bytes) -> None:
        super().__init__("http://localhost:1/v1", "model", key_variable=None)
        self._answer = answer

    def _send(self, body: bytes) -> bytes:
        return self._answer


def answers() -> list[bytes]:
    choice = {"index": 0, "message": {"role": "assistant", "content": "A text."}}
    whole = {"id": "x", "model": "m", "choices": [choice | {"finish_reason": "stop"}]}
    return [json.dumps(whole).encode()]


def agreement_files() -> list[bytes]:
    options = {"dtype": "float64"}
    agreement = replace(sender().agreement, key=KEY, model_place="tiny-en", model_options=options)
    return [agreement.dumps().encode()]


PARSERS = [
    Parser("agreement-file", agreement_files, damaged_json, open_agreement_file),
    Parser(
        "agreement",
        lambda: [json.dumps(sender().agreement.to_dict()).encode()],
        damaged_json,
        open_agreement,
    ),
    Parser(
        "key",
        lambda: [format_key(KEY).encode(), KEY],
        damaged_bytes,
        lambda content, _: parse_key(content, "key"),
    ),
    Parser("ids", lambda: [b"[1, 2, 3]", b"4 5\n6"], damaged_bytes, read_ids),
    Parser("text", texts, damaged_text, extract),
    Parser("frame", frames, damaged_bytes, open_frame),
    Parser("answer", answers, damaged_json, lambda content, _: Answered(content)("A text.")),
]
