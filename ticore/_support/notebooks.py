"""Results show themselves in a notebook: Jupyter asks the last value of a cell for its HTML."""

from __future__ import annotations

from importlib import import_module

# Reports are floors above the results. So the module is named here, and imported when it is asked.
_RENDERER = "ticore.report._notebook"


class ShownInNotebooks:
    """A base class of results that `ticore.report` can draw."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        html: str = import_module(_RENDERER).notebook_html(self)
        return html
