"""What a request may ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast, get_args

from ticore.backend_kit import require, require_one_of
from ticore.consistency import Mode, View

Specials = Literal["end", "any"]

_ON = {"on": True, "true": True, "off": False, "false": False}
_NAMES = ("ticore", "ticore_mode", "ticore_view", "ticore_specials", "ticore_report")
_LONGEST_NAME = 200


@dataclass(frozen=True)
class RequestSettings:
    """How the text of one request is held consistent.

    Attributes:
        on: whether it is. Argument `ticore`: a truth value, 0 or 1, `on` or `off`.
        mode: which lists may stand at the beginning of a text, see `ticore.Verifier`. Argument
            `ticore_mode`.
        view: what the receiver retokenizes, the `continuation` or the `whole`. Argument
            `ticore_view`.
        specials: which special tokens may be written. `end`: those that end the text. `any`: all
            that the receiver keeps, such as those around a tool call; what is between two of them
            is read by itself. Argument `ticore_specials`.
        report: a name for a report in the log, see `Report`; empty for none. Argument
            `ticore_report`.
    """

    on: bool = True
    mode: Mode = "prefix"
    view: View = "continuation"
    specials: Specials = "end"
    report: str = ""

    @classmethod
    def of(cls, arguments: Mapping[str, object] | None) -> RequestSettings:
        """The settings in the arguments of a request; other arguments are left to others.

        Raises:
            SettingsError: an argument that begins with `ticore` is unknown, or its value is.
        """
        given = {name: value for name, value in (arguments or {}).items() if _is_ours(name)}
        for name in given:
            require(name in _NAMES, "arguments", f"of ticore only {', '.join(_NAMES)}", name)
        mode = require_one_of("ticore_mode", given.get("ticore_mode", cls.mode), get_args(Mode))
        view = require_one_of("ticore_view", given.get("ticore_view", cls.view), get_args(View))
        specials = given.get("ticore_specials", cls.specials)
        report = given.get("ticore_report", cls.report)
        fits = isinstance(report, str) and len(report) <= _LONGEST_NAME and report.isprintable()
        expected = f"a name of at most {_LONGEST_NAME} printable characters"
        require(fits, "ticore_report", expected, report)
        return cls(
            on=_truth(given.get("ticore", cls.on)),
            mode=cast(Mode, mode),
            view=cast(View, view),
            specials=cast(
                Specials, require_one_of("ticore_specials", specials, get_args(Specials))
            ),
            report=cast(str, report),
        )


def _is_ours(name: object) -> bool:
    return isinstance(name, str) and name.startswith("ticore")


def _truth(found: object) -> bool:
    """A truth value. Over HTTP it may arrive as a number or a text.

    Raises:
        SettingsError: it is not one.
    """
    if isinstance(found, str) and found.lower() in _ON:
        return _ON[found.lower()]
    fits = isinstance(found, bool | int | float) and found in (0, 1)
    require(fits, "ticore", "true or false, 1 or 0, on or off", found)
    return bool(found)
