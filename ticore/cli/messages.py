"""`ticore embed`, `extract`, `keygen` and `agree`: messages in and out of text."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Annotated

import typer

from ..files import write_atomically
from ..registry import load_model
from ..steganography import Pact, Steganographer, format_key, new_key, parse_key
from ..steganography.steganographer import Finish
from . import streams
from .settings import Settings, shares_settings

KeyFile = Annotated[
    Path | None, typer.Option(help="File with the key, from `ticore keygen`.", show_default=False)
]
Password = Annotated[
    bool,
    typer.Option(
        "--password",
        help=f"Ask for a password instead, or read it from ${streams.PASSWORD_VARIABLE}.",
    ),
]
AgreementFile = Annotated[
    Path | None,
    typer.Option(help="File with key and settings, from `ticore agree`.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
FinishOption = Annotated[
    Finish, typer.Option(help="After the message, go on to the end of the sentence or stop.")
]


@shares_settings
def embed(
    settings: Settings,
    key_file: KeyFile = None,
    password: Password = False,
    agreement: AgreementFile = None,
    finish: FinishOption = "sentence",
    json: Json = False,
) -> None:
    """Hide the message on standard input in a text."""
    stego = _steganographer(settings, key_file, password, agreement, finish)
    message = streams.read_message()
    with streams.progress_bar("hiding") as progress:
        written = stego.embed_report(message, progress)
    if not json:
        return streams.write_text(written.text)
    streams.write_json(
        {
            "text": written.text,
            "tokens": written.tokens,
            "bits": written.bits,
            "bits_per_token": written.bits_per_token,
            "kl_filter": written.kl_filter,
            "seconds": written.seconds,
        }
    )


@shares_settings
def extract(
    settings: Settings,
    key_file: KeyFile = None,
    password: Password = False,
    agreement: AgreementFile = None,
    json: Json = False,
) -> None:
    """Read the message from the text on standard input."""
    stego = _steganographer(settings, key_file, password, agreement)
    text = streams.read_text()
    with streams.progress_bar("reading") as progress:
        message = stego.extract(text, progress)
    if not json:
        return streams.write_bytes(message)
    streams.write_json(
        {"message": readable(message), "message_base64": base64.b64encode(message).decode()}
    )


def keygen() -> None:
    """Make a new key."""
    streams.write_secret(format_key(new_key()))


@shares_settings
def agree(
    settings: Settings,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write this file.", show_default="standard output"),
    ] = None,
) -> None:
    """Make one file with a new key and every setting that both sides share."""
    key = new_key()
    pact = Pact(settings.place, key, settings.steganographer(key=key).agreement)
    if output is None:
        return streams.write_secret(pact.dumps())
    write_atomically(output, pact.dumps().encode(), private=True)


def readable(message: bytes) -> str | None:
    """The message as text, or None if it is not UTF-8."""
    try:
        return message.decode()
    except UnicodeDecodeError:
        return None


def _steganographer(
    settings: Settings,
    key_file: Path | None,
    password: bool,
    agreement: Path | None,
    finish: Finish = "sentence",
) -> Steganographer:
    sources = [key_file is not None, password, agreement is not None]
    if sum(sources) != 1:
        raise typer.BadParameter("give one of --key-file, --password and --agreement")
    if agreement is not None:
        if given := settings.given():
            names = ", ".join("--" + name.replace("_", "-") for name in given)
            raise typer.BadParameter(f"--agreement fixes every setting: leave out {names}")
        text = streams.decode_text(streams.read_file(agreement), str(agreement))
        pact = Pact.loads(text, str(agreement))
        model = load_model(pact.model_place)
        return Steganographer.agreed(model, pact.agreement, key=pact.key, finish=finish)
    if key_file is not None:
        key = parse_key(streams.read_file(key_file), str(key_file))
        return settings.steganographer(key=key, finish=finish)
    return settings.steganographer(password=streams.ask_password(), finish=finish)
