"""The settings that several commands share, each an option of the same name.

A command takes one parameter `settings: Settings`; `shares_settings` unfolds it into options.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from ..interfaces import LanguageModel
from ..registry import load_model
from ..steganography import Steganographer

DEFAULT_MODEL = "tiny-en"


def _option(help_text: str) -> Any:
    return typer.Option(help=help_text, show_default=False)


@dataclass(frozen=True)
class Settings:
    """What was given on the command line; None where nothing was."""

    model: Annotated[
        str | None, _option(f"BACKEND:LOCATION or an embedded model [{DEFAULT_MODEL}].")
    ] = None
    prompt: Annotated[str | None, _option("The text's beginning [empty].")] = None
    temperature: Annotated[float | None, _option("Divides the logits [1.0].")] = None
    top_k: Annotated[int | None, _option("Candidates a step, 0 for all tokens [64].")] = None
    top_p: Annotated[float | None, _option("Share of probability they hold [1.0].")] = None
    codec: Annotated[str | None, _option("How bits choose tokens [arithmetic].")] = None
    disambiguation: Annotated[
        str | None, _option("How the reader finds the tokens again [stepwise].")
    ] = None
    mode: Annotated[str | None, _option("How consistency is verified [prefix].")] = None
    view: Annotated[
        str | None, _option("Send the 'whole' text or the 'continuation' alone [whole].")
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
        return self.model or DEFAULT_MODEL

    def open_model(self) -> LanguageModel:
        """Load the model."""
        return load_model(self.place)

    def steganographer(self, **more: Any) -> Steganographer:
        """A steganographer with these settings and `more` arguments."""
        given = self.given()
        given.pop("model", None)
        return Steganographer(self.open_model(), **given, **more)


def shares_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Replace a command's parameter `settings` by one option for each field of Settings."""
    hints = get_type_hints(Settings, include_extras=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    options = [
        inspect.Parameter(f.name, keyword, default=None, annotation=hints[f.name])
        for f in fields(Settings)
    ]
    own_hints = get_type_hints(command, include_extras=True)
    own = [
        p.replace(annotation=own_hints[p.name], kind=keyword)
        for p in inspect.signature(command).parameters.values()
        if p.name != "settings"
    ]

    @wraps(command)
    def unfolded(**values: Any) -> None:
        settings = Settings(**{f.name: values.pop(f.name) for f in fields(Settings)})
        command(settings=settings, **values)

    parameters = [*options, *own]
    unfolded.__annotations__ = {p.name: p.annotation for p in parameters}
    unfolded.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # a documented hook that mypy does not know
    return unfolded
