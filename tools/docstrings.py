"""Docstrings as the site's reference needs them, made from those in the code.

- A doctest stands between paragraphs. Markdown would take its `>>>` for quotations, so it becomes a
  block of code.
- A package's docstring lists its files, which are private: the list is left out.
- Parameters that are explained together, `top_k, top_p: see Warp`, become one entry each.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_DOCTEST = re.compile(r"^( *)>>> .*\n(?:\1.*\S.*\n?)*", re.M)
_FILE = re.compile(r"\w+(?:\.py|/) {2,}\S")
_TOGETHER = re.compile(r"^    (\w+(?:, \*{0,2}\w+)+): (.*\n?(?:     .*\n?)*)", re.M)


def with_blocks(text: str) -> str:
    """Put a fence round each doctest."""

    def fenced(match: re.Match[str]) -> str:
        indent, block = match[1], match[0].rstrip("\n")
        return f"{indent}```pycon\n{block}\n{indent}```" + ("\n" if match[0][-1] == "\n" else "")

    return _DOCTEST.sub(fenced, text)


def without_files(text: str) -> str:
    """Leave out paragraphs that list files, a name and what it holds on each line."""
    paragraphs = re.split(r"\n{2,}", text)
    return "\n\n".join(one for one in paragraphs if not _FILE.match(one))


def with_single_entries(text: str) -> str:
    """Give each parameter an entry of its own, where several share one."""

    def apart(match: re.Match[str]) -> str:
        said = match[2] if match[2].endswith("\n") else f"{match[2]}\n"
        entries = "".join(f"    {name}: {said}" for name in match[1].split(", "))
        return entries if match[2].endswith("\n") else entries.rstrip("\n")

    return _TOGETHER.sub(apart, text)


class Docstrings(griffe.Extension):
    """The extension through which mkdocstrings reads each docstring."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Change the docstring of one module, class, function or attribute."""
        if obj.docstring is None:
            return
        text = without_files(obj.docstring.value) if obj.is_module else obj.docstring.value
        obj.docstring.value = with_blocks(with_single_entries(text))
