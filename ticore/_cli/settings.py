"""The settings that several commands share, each an option of the same name.

A command takes one parameter `settings: Settings`; `shares_settings` unfolds it into options.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, TypedDict, Unpack, cast, get_args, get_type_hints

import typer

from ..channels import CHANNELS
from ..chat import Chat
from ..codecs import CODECS
from ..consistency import Mode, View
from ..disambiguation import DISAMBIGUATIONS
from ..interfaces import LanguageModel
from ..registry import load_model
from ..steganography import Agreement, Steganographer
from ..steganography._frame_formats import Security
from ..steganography._openers import OPENERS
from ..steganography._portability import Numerics, loading_options
from ..steganography._setup import Compress, Finish, Pad
from .option_names import option_of
from .options import MODEL, OUTPUT, option
from .prompt_options import (
    ChatFile,
    PromptFile,
    PromptText,
    SystemMessage,
    UserMessage,
    read_prompt,
)
from .usage import UsageError, wrong_settings_are_wrong_usage

DEFAULT_MODEL = "tiny-en"
_LIBRARY = inspect.signature(Steganographer).parameters
_OPENING = ("model", "dtype", "device")
_PROMPT = ("prompt", "prompt_file", "chat", "user", "system")


class SteganographerSettings(TypedDict, total=False):
    """Arguments of Steganographer that the command line gives."""

    key: bytes | None
    password: str | None
    finish: Finish
    pad: Pad
    compress: Compress
    shortest_of: int
    prompt: str | Chat
    view: View
    mode: Mode
    temperature: float
    top_k: int | None
    top_p: float
    codec: str
    disambiguation: str
    numerics: Numerics
    channel: str
    security: Security
    openers: str
    window: int
    edits: float


# Panels of `--help`.
SECRET, SAMPLING, CODING = "Secret", "Sampling", "Coding"


def _option(metavar: str, help_text: str, default: object, panel: str) -> Any:
    # An option that is not given stays None: with --agreement none may be given.
    return typer.Option(
        metavar=metavar,
        help=f"{help_text}  [default: {default}]",
        show_default=False,
        rich_help_panel=panel,
    )


def _name(setting: str, help_text: str, names: Iterable[str], panel: str) -> Any:
    listed = f"{help_text} {', '.join(sorted(names))}."
    return _option("NAME", listed, _LIBRARY[setting].default, panel)


def _number(setting: str, metavar: str, help_text: str) -> Any:
    return _option(metavar, help_text, _LIBRARY[setting].default, SAMPLING)


_MODEL_HELP = "The model: its name, or BACKEND:LOCATION; see `ticore models`."
Place = Annotated[str, typer.Option(metavar="PLACE", help=_MODEL_HELP, rich_help_panel=MODEL)]
Dtype = Annotated[
    str | None,
    _option(
        "NAME",
        "The number format that the model computes in, such as float32 or float64.",
        "float64 for a bundled model, else float32",
        MODEL,
    ),
]
Device = Annotated[
    str | None,
    _option(
        "NAME",
        "The device that the model runs on, if its backend has a choice: cpu, cuda, cuda:N or mps.",
        "cuda if there is one, else cpu",
        MODEL,
    ),
]


@dataclass(frozen=True)
class Settings:
    """What was given on the command line; None where nothing was."""

    model: Annotated[str | None, _option("PLACE", _MODEL_HELP, DEFAULT_MODEL, MODEL)] = None
    dtype: Dtype = None
    device: Device = None
    prompt: PromptText = None
    prompt_file: PromptFile = None
    chat: ChatFile = None
    user: UserMessage = None
    system: SystemMessage = None
    temperature: Annotated[
        float | None,
        _number("temperature", "X", "Above 0; below 1 the text is more usual, but longer."),
    ] = None
    top_k: Annotated[
        int | None, _number("top_k", "N", "Choose each token from the N likeliest; 0 means all.")
    ] = None
    top_p: Annotated[
        float | None,
        _number(
            "top_p",
            "X",
            "Of these, choose from the likeliest that together have this probability; at most 1.",
        ),
    ] = None
    codec: Annotated[str | None, _name("codec", "How bits choose tokens:", CODECS, CODING)] = None
    disambiguation: Annotated[
        str | None,
        _name("disambiguation", "How the reader finds the same tokens:", DISAMBIGUATIONS, CODING),
    ] = None
    mode: Annotated[
        str | None,
        _option(
            "NAME",
            f"Which token lists a text may begin with: {', '.join(sorted(get_args(Mode)))}.",
            "viable where consistency is verified, else prefix",
            CODING,
        ),
    ] = None
    numerics: Annotated[
        Numerics | None,
        _option(
            "NAME",
            "Who can read the text: a reader who computes exactly as the writer (same-stack), or "
            "any reader who computes in float64 (portable).",
            _LIBRARY["numerics"].default,
            CODING,
        ),
    ] = None
    security: Annotated[
        Security | None,
        _option(
            "NAME",
            "How messages are sealed: standard, or compact for short ones under weaker bounds.",
            _LIBRARY["security"].default,
            CODING,
        ),
    ] = None
    channel: Annotated[
        str | None,
        _name(
            "channel",
            "What happens to the text on its way; several are joined as in chat+typographic:",
            CHANNELS,
            OUTPUT,
        ),
    ] = None
    openers: Annotated[
        str | None,
        option(
            "NAME",
            f"Begin each text with a natural opening instead of a prompt; the reader recognizes "
            f"it: {', '.join(OPENERS)}.",
            panel=MODEL,
            default="none",
        ),
    ] = None
    window: Annotated[
        int | None,
        _option(
            "N",
            "The model sees the prompt and the last N tokens alone, so the text may be longer than "
            "its context.",
            "all tokens",
            CODING,
        ),
    ] = None
    edits: Annotated[
        float | None,
        _option(
            "SHARE",
            "The share of tokens that may be edited on the way, such as 0.05; needs a window, such "
            "as 4, and a longer text.",
            _LIBRARY["edits"].default,
            CODING,
        ),
    ] = None
    view: Annotated[
        str | None,
        _option(
            "NAME",
            "What is sent: the prompt and what follows it (whole), or only what follows it "
            "(continuation).",
            "whole; continuation after a conversation",
            OUTPUT,
        ),
    ] = None

    def options_given(self) -> list[str]:
        """The options that were given, such as `--top-k`, without those about the model."""
        return [
            option_of(name)
            for name, value in asdict(self).items()
            if value is not None and name not in _OPENING
        ]

    def arguments(self) -> SteganographerSettings:
        """What was given, as arguments of Steganographer, without the model.

        Raises:
            UsageError: there are two prompts, or the prompt is to come from standard input.
            InputFileError: the file with the prompt cannot be read.
        """
        given = {
            name: value
            for name, value in asdict(self).items()
            if value is not None and name not in (*_OPENING, *_PROMPT)
        }
        if given.get("top_k") == 0:
            given["top_k"] = None
        if Path("-") in (self.prompt_file, self.chat):
            raise UsageError("expected a file for the prompt: standard input is not read for it")
        if any(getattr(self, name) is not None for name in _PROMPT):
            given["prompt"] = read_prompt(
                self.prompt, self.prompt_file, self.chat, self.user, self.system
            )
        return cast(SteganographerSettings, given)

    @property
    def place(self) -> str:
        """Where the model is."""
        return DEFAULT_MODEL if self.model is None else self.model

    @property
    def options(self) -> dict[str, str]:
        """How the model is to be opened, as far as that was given."""
        return model_options(self.dtype, self.device)

    def open_model(self) -> LanguageModel:
        """Load the model."""
        return load_model(self.place, **loading_options(self.options, self.numerics))

    def open_model_of(self, agreement: Agreement) -> LanguageModel:
        """Load the agreement's model, or the one that was given instead: its digest is checked.

        Raises:
            UsageError: neither the agreement nor an option says where the model is.
        """
        place, options = agreement.model_place, {**agreement.model_options, **self.options}
        if self.model is not None:
            place, options = self.model, self.options
        if place is None:
            raise UsageError("the agreement does not say where the model is: give --model PLACE")
        return load_model(place, **loading_options(options, agreement.numerics))

    def steganographer(self, **more: Unpack[SteganographerSettings]) -> Steganographer:
        """A steganographer with these settings and `more` arguments.

        Raises:
            UsageError: a setting is unknown or out of range.
        """
        arguments: SteganographerSettings = {**self.arguments(), **more}
        model = self.open_model()
        with wrong_settings_are_wrong_usage():
            return Steganographer(model, **arguments)


def model_options(dtype: str | None, device: str | None) -> dict[str, str]:
    """The given ones of `dtype` and `device`, as options of `load_model`."""
    given = {"dtype": dtype, "device": device}
    return {name: value for name, value in given.items() if value is not None}


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
