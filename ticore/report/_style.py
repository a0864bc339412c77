"""Colours and rules of what is shown: for a page of its own, or for a part of a notebook.

    page        :root { colours }  .text { ... }      light or dark as the system is
    notebook    .ticore { colours  .text { ... } }    the same, or as the notebook's theme

The rules of a notebook are nested, so that they change nothing outside.
"""

from __future__ import annotations

from dataclasses import dataclass

FRAGMENT = "ticore"
"""The class of the element around what is shown in a notebook."""

# How JupyterLab, VS Code, Colab and Sphinx name a theme that differs from the system's.
_LIGHT_THEMES = ('[data-jp-theme-light="true"]', ".vscode-light", '[data-theme="light"]')
_DARK_THEMES = (
    '[data-jp-theme-light="false"]',
    ".vscode-dark",
    "html[theme=dark]",
    '[data-theme="dark"]',
)
_IN_NOTEBOOK = """\
padding: 0.5rem 0.75rem; color: var(--ink); background: var(--paper);
font: 1rem/1.5 system-ui, sans-serif; text-align: left;
"""


@dataclass(frozen=True)
class Style:
    """CSS of one view.

    Attributes:
        light, dark: declarations of colours, for a light and a dark background.
        rules: what uses them.
    """

    light: str = ""
    dark: str = ""
    rules: str = ""

    def __add__(self, other: Style) -> Style:
        return Style(self.light + other.light, self.dark + other.dark, self.rules + other.rules)

    def of_page(self) -> str:
        """The CSS of a page."""
        return (
            f":root {{\n{self.light}}}\n"
            f"@media (prefers-color-scheme: dark) {{\n:root {{\n{self.dark}}}\n}}\n{self.rules}"
        )

    def of_notebook(self) -> str:
        """The CSS of an element with the class FRAGMENT."""
        here = f".{FRAGMENT}"
        light = ", ".join(f"{theme} {here}" for theme in _LIGHT_THEMES)
        dark = ", ".join(f"{theme} {here}" for theme in _DARK_THEMES)
        return (
            f"{here} {{\n{self.light}{_IN_NOTEBOOK}{self.rules}}}\n"
            f"@media (prefers-color-scheme: dark) {{ {here} {{\n{self.dark}}} }}\n"
            f"{light} {{\n{self.light}}}\n{dark} {{\n{self.dark}}}\n"
        )
