"""Where a received text leaves what can have been written: the place marked in the text."""

from __future__ import annotations

from ..errors import TextPlace
from ._markup import Html, element, text
from ._page import facts_table, text_block
from ._style import Style

PLACE_STYLE = Style(
    light="  --place: #ffe08a; --on-place: #1a1a1a;\n",
    dark="  --place: #ffd54f; --on-place: #1a1a1a;\n",
    rules=".text mark { background: var(--place); color: var(--on-place); }\n",
)

_AROUND = 400  # characters shown on each side of the place
_THE_END = "\N{WHITE SMALL SQUARE}"
_CUT = "\N{HORIZONTAL ELLIPSIS}"


def place_body(place: TextPlace) -> list[Html]:
    """A text around a place, and what is likely there, for a page that has PLACE_STYLE."""
    before, after = place.before, place.text[place.end :]
    if place.received_start is None:
        at = f"character {place.start:,} of the text as it was read"
    else:
        at = f"character {place.received_start:,}"
    facts = [("at", at)]
    if place.likely:
        facts.append(("likely there", " · ".join(map(repr, place.likely))))
    return [
        text_block(
            text(_CUT * (len(before) > _AROUND) + before[-_AROUND:], keep="\n"),
            element("mark", text(place.found or _THE_END, keep="\n")),
            text(after[:_AROUND] + _CUT * (len(after) > _AROUND), keep="\n"),
        ),
        facts_table(facts),
    ]
