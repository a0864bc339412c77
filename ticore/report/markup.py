"""HTML in which nothing stays unescaped: text becomes markup through these functions alone.

The type checker tells the two apart, so a plain string never gets between tags as it is.
"""

from __future__ import annotations

from html import escape
from typing import NewType

from .visible import visible

Html = NewType("Html", str)


def text(content: str, keep: str = "") -> Html:
    r"""`content` as `visible` shows it, without any meaning as markup.

    >>> text("<b>\0</b>")
    '&lt;b&gt;\\x00&lt;/b&gt;'
    """
    return Html(escape(visible(content, keep)))


def element(name: str, *children: Html, **attributes: str) -> Html:
    """An element and its end tag. `aria_label` is the attribute aria-label, `class_` class.

    >>> element("b", text("a<b"), class_='"')
    '<b class="&quot;">a&lt;b</b>'
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(value)}"' for key, value in attributes.items()
    )
    return Html(f"<{name}{given}>{''.join(children)}</{name}>")
