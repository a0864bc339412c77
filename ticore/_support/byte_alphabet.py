"""The characters that stand for bytes in byte-level vocabularies, as in GPT-2."""

from __future__ import annotations


def byte_alphabet() -> dict[str, int]:
    """The character that stands for each byte.

    Visible Latin-1 characters stand for themselves, the others are moved up from U+0100.

    >>> byte_alphabet()["A"], byte_alphabet()["Ġ"]
    (65, 32)
    """
    visible = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(0x100) if byte not in visible]
    moved = {chr(0x100 + i): byte for i, byte in enumerate(hidden)}
    return {chr(byte): byte for byte in visible} | moved
