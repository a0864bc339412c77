"""`ticore embed`, `extract`, `keygen` and `agree`: messages in and out of text."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Annotated

import typer

from ..files import write_new_secret
from ..steganography import Pact, Steganographer, format_key, load_key, new_key
from ..steganography.steganographer import Finish
from . import streams
from .secrets import warn_of_others, warn_of_short
from .settings import Settings, shares_settings
from .usage import UsageError

Agreed = Annotated[
    Path | None,
    typer.Option(
        "--agreement",
        metavar="FILE",
        readable=False,
        help="Take key and settings from this file, made by `ticore agree`.",
        show_default=False,
    ),
]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        readable=False,
        help="Take the key from this file, made by `ticore keygen`.",
        show_default=False,
    ),
]
Password = Annotated[
    bool,
    typer.Option(
        "--password",
        help=f"Ask for a password, or take it from the environment: ${streams.PASSWORD_VARIABLE}.",
    ),
]
FinishOption = Annotated[
    Finish,
    typer.Option(help="After the message go on to the end of the sentence, or stop: none."),
]
Json = Annotated[bool, typer.Option("--json", help="Print a JSON object instead.")]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        readable=False,
        help="Write to this new file, which you alone can read, instead of standard output.",
        show_default=False,
    ),
]


@shares_settings
def embed(
    *,
    agreement: Agreed = None,
    key_file: KeyFile = None,
    password: Password = False,
    settings: Settings,
    finish: FinishOption = "sentence",
    json: Json = False,
) -> None:
    """Hide the message on standard input in a text.

    The message is any bytes; the text goes to standard output. The secret comes from one of
    --agreement, --key-file and --password.
    """
    stego = _steganographer(settings, key_file, password, agreement, finish, writes=True)
    message = streams.read_bytes("the message")
    with streams.progress_bar("hiding") as progress:
        written = stego.embed_report(message, progress)
    if json:
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
    else:
        streams.write_line(written.text.encode())
    warn_of_others(agreement or key_file)


@shares_settings
def extract(
    *,
    agreement: Agreed = None,
    key_file: KeyFile = None,
    password: Password = False,
    settings: Settings,
    json: Json = False,
) -> None:
    """Read the message in the text on standard input.

    The message goes to standard output as it was hidden. Secret and settings must be those that
    the text was written with; otherwise there is an error, never a wrong message. What comes
    after the text, such as a signature on a line of its own, does no harm. Usual changes on the way
    (wrapped lines, other line ends, spaces or quotation marks, text in front) are undone if need
    be, and a note on standard error says which.
    """
    stego = _steganographer(settings, key_file, password, agreement)
    text = streams.read_text("the text")
    with streams.progress_bar("reading") as progress:
        found = stego.extract_pasted(text, progress)
    message = found.message
    if found.undone:
        streams.note(f"ticore: the text was changed on its way; undone: {', '.join(found.undone)}")
    if json:
        streams.write_json(
            {"message": readable(message), "message_base64": base64.b64encode(message).decode()}
        )
    else:
        streams.write_line(message)
    warn_of_others(agreement or key_file)


def keygen(*, output: Output = None) -> None:
    """Make a new key.

    With -o FILE it goes to a new file that you alone can read, from the start; otherwise to
    standard output. Bring it to the other side over a safe way.
    """
    _hand_out(format_key(new_key()), output)


@shares_settings
def agree(*, settings: Settings, output: Output = None) -> None:
    """Make a file with a new key and the settings of both sides.

    With -o FILE it goes to a new file that you alone can read, from the start; otherwise to
    standard output. Bring it to the other side over a safe way, since it holds the key.
    """
    key = new_key()
    pact = Pact(settings.place, key, settings.steganographer(key=key).agreement, settings.options)
    _hand_out(pact.dumps(), output)


def _hand_out(secret: str, output: Path | None) -> None:
    """Put what holds a key into a new file, or on standard output. Raises FileError."""
    if output is None:
        streams.write_secret(secret)
    else:
        write_new_secret(output, secret.encode())


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
    writes: bool = False,
) -> Steganographer:
    if (agreement is not None) + (key_file is not None) + password != 1:
        raise UsageError("give one of --agreement, --key-file and --password")
    if agreement is not None:
        if given := settings.given():
            names = ", ".join("--" + name.replace("_", "-") for name in given)
            raise UsageError(f"--agreement fixes every setting: leave out {names}")
        pact = Pact.load(agreement)
        model = settings.open_model_of(pact)
        return Steganographer.agreed(model, pact.agreement, key=pact.key, finish=finish)
    if key_file is not None:
        return settings.steganographer(key=load_key(key_file), finish=finish)
    asked = streams.ask_password(twice=writes)
    stego = settings.steganographer(password=asked, finish=finish)
    if writes:
        warn_of_short(asked)
    return stego
