"""Escaped HTML: only these functions turn text into markup.

`Html` is a type of its own, so the type checker refuses a plain string between tags.
"""

from __future__ import annotations

from html import escape
from typing import NewType

from .._support.visible import visible

Html = NewType("Html", str)


def text(content: str, keep: str = "") -> Html:
    r"""`content` as `visible` shows it, escaped.

    >>> text("<b>\0</b>")
    '&lt;b&gt;\\x00&lt;/b&gt;'
    """
    return Html(escape(visible(content, keep)))


def element(name: str, *children: Html, **attributes: str) -> Html:
    """An element with its children. `aria_label` is the attribute aria-label, `class_` is class.

    >>> element("b", text("a<b"), class_='"')
    '<b class="&quot;">a&lt;b</b>'
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(value)}"' for key, value in attributes.items()
    )
    return Html(f"<{name}{given}>{''.join(children)}</{name}>")
