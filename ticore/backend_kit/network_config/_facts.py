"""What a digest says of a config, the same in later versions of ticore.

A field that a later version adds has, by default, the value that all networks had before. Digests
leave it out where it has this value, so that those of earlier versions last.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass

LATER = {"later": True}
"""The metadata of a dataclass field that was added after the first version."""


def facts_of(value: object) -> object:
    """A dataclass as nested dicts, without later fields that have their default."""
    if not is_dataclass(value):
        return value
    found = {each: getattr(value, each.name) for each in fields(value)}
    return {
        each.name: facts_of(stated)
        for each, stated in found.items()
        if not each.metadata.get("later") or stated != each.default
    }
