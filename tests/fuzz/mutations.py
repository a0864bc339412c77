"""Damage to bytes and to JSON, the same for the same seed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any

Damage = Callable[[Random, bytes], bytes]

# Placeholders for JSON that `json` does not write: a token as it is, or a name a second time.
_RAW, _AGAIN = "\ue000", "\ue001"
_RAW_TOKEN, _STANDING_IN = re.compile(r'"\\ue000([^"\\]*)"'), re.compile(r"\\ue00[01]")

_ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    *(0, 1, -1, 0.5, -1.5, 7, 255, 256),
    *(2**31 - 1, 2**31, 2**32, -(2**31), 2**63, 2**64, -(2**63) - 1),
    *(10**5, 10**6, 10**8, 10**18, 1e-300, 1e300, -1e300),
    *("", " ", ".", "..", "/", "../x", "/dev/null", "a\0b", "\0", "\ud800", "\udfff", "0", "1e9"),
    *("#", "##", "é", "\u2581", "\U0001f600", "\u0301", "\ufeff", "a" * 3000, "<0x00>", "<unk>"),
    *([], [[]], [None], [0], [-1], [""], ["", ""], {}, {"": None}, {"": 0}, {"type": ""}),
    *(_RAW + token for token in ("NaN", "Infinity", "-Infinity", "1e400", "-0", "1" * 5000)),
    *(_RAW + "[" * depth + "]" * depth for depth in (100, 130, 2000, 100_000)),
)

_SPLICES = (
    *(b"\0", b"\xff", b"\xff\xff\xff\xff", b"\x80", b"\0\0\0\0", b"\x7f\xff\xff\xff", b"\r\n"),
    *(
        b"\n",
        b"\n\n",
        b" ",
        b"=",
        b"==",
        b"-1",
        b"9" * 30,
        b"1e999",
        b"\xef\xbb\xbf",
        b"\xed\xa0\x80",
    ),
    *(b'"', b"{", b"}", b"[", b"]", b",", b":", b"null", b"\\ud800", b"[" * 3000, b"A" * 5000),
)


def damaged_bytes(draw: Random, data: bytes) -> bytes:
    """`data` after one to four changes: bits or bytes changed, pieces lost, doubled or moved."""
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        at = draw.randint(0, len(changed))
        end = min(len(changed), at + draw.choice((1, 1, 2, 4, 8, 64, 1000)))
        match draw.randrange(8):
            case 0 if at < len(changed):
                changed[at] ^= 1 << draw.randrange(8)
            case 1:
                changed[at:end] = draw.randbytes(end - at)
            case 2:
                del changed[at:end]
            case 3:
                changed[at:at] = changed[at:end] * draw.choice((1, 2, 50))
            case 4:
                changed[at:at] = draw.choice(_SPLICES)
            case 5:
                changed[at:end] = draw.choice(_SPLICES)
            case 6:
                del changed[at:]
            case _:
                other = draw.randint(0, len(changed))
                changed[at:end] = changed[other : other + end - at]
    return bytes(changed)


def damaged_json(draw: Random, data: bytes) -> bytes:
    """A JSON document with one to three places changed, and sometimes a byte, too."""
    document = [json.loads(data)]
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        _change_a_place(draw, document)
    text = json.dumps(document[0])
    text = _RAW_TOKEN.sub(r"\1", text)
    written = _STANDING_IN.sub("", text).encode()
    return damaged_bytes(draw, written) if draw.random() < 0.1 else written


def damaged_lines(draw: Random, data: bytes) -> bytes:
    """Lines dropped, doubled, swapped or joined, or bytes changed."""
    if draw.random() < 0.6:
        return damaged_bytes(draw, data)
    lines = data.split(b"\n")
    one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    match draw.randrange(4):
        case 0:
            del lines[one]
        case 1:
            lines.insert(other, lines[one])
        case 2:
            lines[one], lines[other] = lines[other], lines[one]
        case _:
            lines[one : one + 2] = [
                draw.choice((b" ", b"\t", b"\r", b"")).join(lines[one : one + 2])
            ]
    return b"\n".join(lines)


def _change_a_place(draw: Random, document: list[Any]) -> None:
    holder, name = draw.choice(_places(draw, document))
    if isinstance(holder, list):
        match draw.randrange(4):
            case 0 if holder is not document:
                del holder[name]
            case 1:
                holder.insert(name, holder[name]) if holder is not document else None
            case _:
                holder[name] = _odd(draw, document, holder[name])
        return
    match draw.randrange(8):
        case 0:
            del holder[name]
        case 1:
            holder[_odd_name(draw)] = holder.pop(name)
        case 2:
            holder[_AGAIN + name] = _odd(draw, document, holder[name])
        case _:
            holder[name] = _odd(draw, document, holder[name])


def _odd(draw: Random, document: list[Any], now: object) -> object:
    """An odd value, a part of the document itself, or the value as it is in a list or object."""
    match draw.randrange(10):
        case 0:
            holder, name = draw.choice(_places(draw, document))
            return json.loads(json.dumps(holder[name]))
        case 1:
            return draw.choice(([now], {"": now}, [now, now], str(now)[:100]))
        case 2 if isinstance(now, int):
            return now + draw.choice((-1, 1))
    return deepcopy(draw.choice(_ODD))  # a copy, since a later change may alter it


def _odd_name(draw: Random) -> str:
    return draw.choice([odd for odd in _ODD if isinstance(odd, str) and odd[:1] != _RAW])


def _places(draw: Random, document: list[Any]) -> list[tuple[Any, Any]]:
    """Places of the document, as a holder and an index or name.

    Of a long list or object three are given: a vocabulary leaves room for what is beside it.
    """
    found: list[tuple[Any, Any]] = []
    waiting: list[Any] = [document]
    while waiting:
        holder = waiting.pop()
        names = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        for name in draw.sample(names, 3) if len(names) > 30 else names:
            found.append((holder, name))
            if isinstance(holder[name], dict | list):
                waiting.append(holder[name])
    return found
