"""A web page about the drift in a corpus of rollouts: how often, why, and the worst examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ..consistency._causes import ADVICE, Cause
from ._interleaved import TokenName, nameless
from ._markup import Html, element, text
from ._page import facts_table, page, token_box
from ._style import Style

_STYLE = Style(
    rules="""\
.example { border-top: 1px solid var(--line); padding: 0.6rem 0; }
.row { display: flex; flex-wrap: wrap; gap: 0.15rem; padding: 0.1rem 0; }
.files td, .files th { padding-right: 1rem; font-variant-numeric: tabular-nums; }
.files th:first-child { overflow-wrap: anywhere; }
"""
)


class ShownDrift(NamedTuple):
    """A rollout that drifts, as the page shows it.

    Attributes:
        row: its number in the file.
        said: where it drifts, and how much.
        cause: of the first difference.
        ids, again: the ids there that were sampled, and those that were read.
        file: its name, where there are several.
    """

    row: int
    said: str
    cause: Cause
    ids: Sequence[int]
    again: Sequence[int]
    file: str | None = None


def drift_page(
    title: str,
    facts: Mapping[str, str],
    causes: Mapping[Cause, int],
    examples: Sequence[ShownDrift],
    token_bytes: Callable[[int], bytes],
    token_name: TokenName = nameless,
    files: Sequence[Mapping[str, str]] = (),
) -> str:
    """A web page that shows what a scan for drift found.

    Args:
        title: plain text.
        facts: names and values that stand first.
        causes: how many rollouts drift for each cause.
        examples: the worst first.
        token_bytes: the tokenizer's function from an id to its bytes.
        token_name: the tokenizer's names of special tokens.
        files: what stands of each file beside the others, the same names in each; its own first.

    Returns:
        An HTML document without scripts, which fetches nothing.
    """

    def boxes(label: str, ids: Sequence[int]) -> Html:
        shown = (token_box(token_bytes(i), str(i), f"id {i}", name=token_name(i)) for i in ids)
        return element("div", *shown, class_="row", role="group", aria_label=label)

    found = {cause: count for cause, count in causes.items() if count}
    body = [facts_table(facts.items())]
    if files:
        body += [element("h2", text("Files")), _files_table(files)]
    if found:
        body += [
            element("h2", text("Causes")),
            facts_table((f"{cause}: {count:,}", ADVICE[cause]) for cause, count in found.items()),
            element("h2", text("Worst rollouts: first difference, sampled above read")),
        ]
    for one in examples:
        file = "" if one.file is None else f"{one.file}, "
        body.append(
            element(
                "div",
                element("p", element("strong", text(f"{file}row {one.row:,}: {one.cause}"))),
                element("p", text(one.said)),
                boxes("sampled", one.ids),
                boxes("read", one.again),
                class_="example",
            )
        )
    return page(title, *body, style=_STYLE)


def _files_table(files: Sequence[Mapping[str, str]]) -> Html:
    head = (element("th", text(name), scope="col") for name in files[0])
    rows = []
    for file in files:
        name, *values = file.values()
        cells = (element("td", text(value)) for value in values)
        rows.append(element("tr", element("th", text(name), scope="row"), *cells))
    return element("table", element("tr", *head), *rows, class_="files")
