"""What programs do to a text: twelve journeys, written apart from the channels' own changes."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Journey:
    """One way that a text takes.

    Attributes:
        channel: the channel that a user would choose for it.
        take: what arrives in the place of a text.
    """

    channel: str
    take: Callable[[str], str]


def _messenger(text: str) -> str:
    lines = [line.rstrip() for line in unicodedata.normalize("NFC", text).strip().split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))


def _form(text: str) -> str:
    return text.replace("\n", "\r\n").replace("  ", " \u00a0").strip() + "\r\n"


def _clipboard(text: str) -> str:
    return "\ufeff" + unicodedata.normalize("NFD", text).replace("\n", "\u2028")


def _blank_lines(text: str) -> str:
    return re.sub(r"\n", "\n\n", text)


def _curly(text: str) -> str:
    text = re.sub(r'(^|[\s(\[])"', "\\1\u201c", text).replace('"', "\u201d")
    return re.sub(r"(^|[\s(\[])'", "\\1\u2018", text).replace("'", "\u2019")


def _telephone(text: str) -> str:
    return _curly(text).replace("...", "\u2026").replace("--", "\u2014")


def _word_processor(text: str) -> str:
    text = _telephone(text).replace(" - ", " \u2013 ").replace("1/2", "\u00bd")
    return re.sub(r" ([!?:;])", "\u00a0\\1", text)


def _printed(text: str) -> str:
    lines = textwrap.fill(" ".join(text.split()), 80, break_on_hyphens=False)
    return lines.replace("ffi", "\ufb03").replace("fi", "\ufb01").replace("fl", "\ufb02")


def _mail(text: str) -> str:
    return textwrap.fill(text, 72).replace("\n", "\r\n")


def _mail_quoted(text: str) -> str:
    """Wrapped, quoted, wrapped again by a narrower program, quoted by another one."""
    once = ["> " + line for line in textwrap.wrap(text, 72)]
    again = [line for part in once for line in textwrap.wrap(part, 60)]
    return "\n".join(">" + line for line in again)


def _mail_flowed(text: str) -> str:
    lines = textwrap.wrap(text, 66)
    return " \r\n".join(f" {x}" if x.startswith((">", "From ", " ")) else x for x in lines)


def _short_message(text: str) -> str:
    """One line in the alphabet of GSM 03.38, where the text is written in Latin letters."""
    text = re.sub(r"\s+", " ", _curly(text)).translate(_SIMPLE)
    kept = "ÄÅÆÉÑÖØÜßäåæéñöøüèéùìòàÇ"
    return "".join(
        unicodedata.normalize("NFD", c)[0]
        if c not in kept and unicodedata.name(c, "").startswith("LATIN")
        else c
        for c in text
    )


def _telegram(text: str) -> str:
    return text.upper()


def _ascii(text: str) -> str:
    return text.encode("ascii", "ignore").decode() + "\u00a0\u2026"


_SIMPLE = str.maketrans(
    {"\u201c": '"', "\u201d": '"', "\u2018": "'", "\u2019": "'", "\u2014": "-", "`": "'"}
)

JOURNEYS: Mapping[str, Journey] = {
    "messenger": Journey("chat", _messenger),
    "web form": Journey("chat", _form),
    "clipboard": Journey("chat", _clipboard),
    "forum, blank lines": Journey("chat", _blank_lines),
    "telephone": Journey("chat+typographic", _telephone),
    "word processor": Journey("chat+typographic", _word_processor),
    "printed page": Journey("email+typographic", _printed),
    "mail, wrapped": Journey("email", _mail),
    "mail, quoted twice": Journey("email", _mail_quoted),
    "mail, format=flowed": Journey("email", _mail_flowed),
    "SMS gateway": Journey("sms", _short_message),
    "capitals": Journey("caseless", _telegram),
    "ASCII alone": Journey("ascii", _ascii),
}
"""The journeys by name."""

WITHIN = "Hello,\nhere it is:\n{}\n\nRegards, Ann"
"""What people put around a text, after the journey."""
