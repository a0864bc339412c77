"""The frame of a web page, and what it shows: a text, a token in a box, a table of facts.

A page is one file. It has no scripts, fetches nothing, and is light or dark as the reader's system
is. Each view, such as `_inspection_page.py`, adds its content and its style.
"""

from __future__ import annotations

from collections.abc import Iterable

from .._support.visible import visible_token
from ._markup import Html, element, text
from ._style import Style

# The policy forbids scripts and requests even if foreign markup got into the page.
_DOCUMENT = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""

STYLE = Style(
    light="""\
  color-scheme: light;
  --ink: #1a1a1a; --faint: #595959; --paper: #ffffff; --box: #f4f4f4; --line: #c4c4c4;
""",
    dark="""\
  color-scheme: dark;
  --ink: #e8e8e8; --faint: #a8a8a8; --paper: #161616; --box: #242424; --line: #505050;
""",
    rules="""\
table { border-collapse: collapse; }
th { text-align: left; vertical-align: top; padding: 0 1.5rem 0 0; }
td { text-align: left; padding: 0; }
.text + table { margin-top: 0.5rem; }
.text {
  padding: 0.3rem 0.8rem; border-left: 0.2rem solid var(--line);
  white-space: pre-wrap; overflow-wrap: anywhere;
}
.token {
  display: inline-block; padding: 0 0.3rem; border: 1px solid var(--line); border-radius: 0.25rem;
  background: var(--box); font: 0.95rem/1.4 ui-monospace, monospace; text-align: center;
}
.token bdi { display: block; overflow-wrap: anywhere; }
.token small { display: block; color: var(--faint); font-size: 0.7rem; }
""",
)
_OF_PAGES = """\
body {
  max-width: 72rem; margin: 2rem auto; padding: 0 1rem;
  color: var(--ink); background: var(--paper); font: 1rem/1.5 system-ui, sans-serif;
}
h1 { font-size: 1.3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; }
"""


_PLAIN = Style()


def style_of_pages(*styles: Style) -> str:
    """The CSS of pages with these views."""
    return sum(styles, STYLE).of_page() + _OF_PAGES


def page(title: str, *body: Html, style: Style = _PLAIN) -> str:
    """An HTML5 document.

    Args:
        title: plain text, for the window and the first heading.
        body: what follows the heading.
        style: the view's own.
    """
    return _DOCUMENT.format(title=text(title), style=style_of_pages(style), body="\n".join(body))


def text_block(*parts: Html) -> Html:
    """A text in any language, with its line ends and spaces."""
    return element("div", *parts, class_="text", lang="", dir="auto")


def facts_table(facts: Iterable[tuple[str, str]]) -> Html:
    """Names and values, one pair per row."""
    rows = (
        element("tr", element("th", text(name), scope="row"), element("td", text(value)))
        for name, value in facts
    )
    return element("table", *rows)


def token_box(data: bytes, label: str, title: str, kind: str = "", name: str = "") -> Html:
    """A token in a row of tokens.

    Args:
        data: its bytes.
        label: shown under it in small, such as its id.
        title: shown when a pointer rests on it.
        kind: CSS classes of the view's style.
        name: shown instead if the token has no bytes.
    """
    return element(
        "span",
        # bdi: right-to-left letters must not reorder the boxes.
        element("bdi", text(visible_token(data) if data or not name else name)),
        element("small", text(label)),
        class_=f"token {kind}".rstrip(),
        title=title,
    )
