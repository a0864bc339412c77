"""The settings that several commands share, each an option of the same name.

A command takes one parameter `settings: Settings`; `shares_settings` unfolds it into options.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from functools import wraps
from typing import Annotated, Any, get_args, get_type_hints

import typer

from ..codecs import CODECS
from ..consistency import Mode
from ..disambiguation import DISAMBIGUATIONS
from ..errors import SettingsError
from ..interfaces import LanguageModel
from ..registry import load_model
from ..steganography import Steganographer
from .usage import UsageError

DEFAULT_MODEL = "tiny-en"
_LIBRARY = inspect.signature(Steganographer).parameters


def _option(metavar: str, help_text: str, default: object) -> Any:
    # An option that is not given stays None: with --agreement none may be given.
    return typer.Option(
        metavar=metavar, help=f"{help_text}  [default: {default}]", show_default=False
    )


def _name(setting: str, help_text: str, names: Iterable[str]) -> Any:
    return _option("NAME", f"{help_text} {', '.join(sorted(names))}.", _LIBRARY[setting].default)


def _number(setting: str, metavar: str, help_text: str) -> Any:
    return _option(metavar, help_text, _LIBRARY[setting].default)


@dataclass(frozen=True)
class Settings:
    """What was given on the command line; None where nothing was."""

    model: Annotated[
        str | None,
        _option(
            "PLACE",
            "The model: the name of a shipped one, or BACKEND:LOCATION; see `ticore models`.",
            DEFAULT_MODEL,
        ),
    ] = None
    prompt: Annotated[
        str | None, _option("TEXT", "What the model continues: how the text begins.", "empty")
    ] = None
    view: Annotated[
        str | None,
        _option(
            "NAME",
            "What is sent: whole, the prompt and what follows it, or continuation, only what "
            "follows.",
            _LIBRARY["view"].default,
        ),
    ] = None
    temperature: Annotated[
        float | None,
        _number("temperature", "X", "Above 0: below 1 the text is more usual, but longer."),
    ] = None
    top_k: Annotated[
        int | None, _number("top_k", "N", "Choose each token from the N likeliest; 0: from all.")
    ] = None
    top_p: Annotated[
        float | None,
        _number("top_p", "X", "Of these keep the likeliest that hold this share, at most 1."),
    ] = None
    codec: Annotated[str | None, _name("codec", "How bits choose tokens:", CODECS)] = None
    disambiguation: Annotated[
        str | None,
        _name("disambiguation", "How the reader finds the same tokens:", DISAMBIGUATIONS),
    ] = None
    mode: Annotated[
        str | None, _name("mode", "Which tokens count as consistent:", get_args(Mode))
    ] = None

    def given(self) -> dict[str, Any]:
        """The settings that were given, as arguments of Steganographer, the model included."""
        given = {name: value for name, value in asdict(self).items() if value is not None}
        if given.get("top_k") == 0:
            given["top_k"] = None
        return given

    @property
    def place(self) -> str:
        """Where the model is."""
        return DEFAULT_MODEL if self.model is None else self.model

    def open_model(self) -> LanguageModel:
        """Load the model."""
        return load_model(self.place)

    def steganographer(self, **more: Any) -> Steganographer:
        """A steganographer with these settings and `more` arguments.

        Raises UsageError where a setting is unknown or out of range.
        """
        given = self.given()
        given.pop("model", None)
        model = self.open_model()
        try:
            return Steganographer(model, **given, **more)
        except SettingsError as error:
            raise UsageError(str(error)) from error


def shares_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Replace a command's parameter `settings` by one option for each field of Settings."""
    hints = get_type_hints(Settings, include_extras=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    options = [
        inspect.Parameter(f.name, keyword, default=None, annotation=hints[f.name])
        for f in fields(Settings)
    ]
    own_hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    for p in inspect.signature(command).parameters.values():
        if p.name == "settings":
            parameters += options
        else:
            parameters.append(p.replace(annotation=own_hints[p.name]))

    @wraps(command)
    def unfolded(**values: Any) -> None:
        settings = Settings(**{f.name: values.pop(f.name) for f in fields(Settings)})
        command(settings=settings, **values)

    unfolded.__annotations__ = {p.name: p.annotation for p in parameters}
    unfolded.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # a documented hook that mypy does not know
    return unfolded
