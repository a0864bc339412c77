"""`ticore demo`: hide a message in a text, read it back, and show both."""

from __future__ import annotations

import time
from typing import Annotated

import typer
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from .._support.opening_words import opening_words
from .._support.visible import visible
from ..keys import Key
from ..steganography import Embedding
from . import streams
from .json_errors import prints_errors_as_json
from .options import Json
from .settings import DEFAULT_MODEL, Device, Dtype, Place, Settings
from .usage import UsageError

SECRET = "meet at noon"
TEMPERATURE = 0.8  # a small model is easier to read below 1


@prints_errors_as_json
def demo(
    secret: Annotated[str, typer.Option(metavar="TEXT", help="What to hide.")] = SECRET,
    prompt: Annotated[
        str | None, typer.Option(metavar="TEXT", help="How the text begins; default: a few words.")
    ] = None,
    model: Place = DEFAULT_MODEL,
    dtype: Dtype = None,
    device: Device = None,
    json: Json = False,
) -> None:
    """Hide a message in a text, and read it back.

    It uses a new key, and stores nothing.
    """
    started = time.perf_counter()
    try:
        message = secret.encode()
    except UnicodeEncodeError:
        raise UsageError("--secret: expected valid Unicode text, found something else") from None
    if prompt is None:
        prompt = opening_words(model)
    settings = Settings(
        model=model, dtype=dtype, device=device, prompt=prompt, temperature=TEMPERATURE
    )
    stego = settings.steganographer(key=Key.new())
    with streams.progress_bar("hiding") as progress:
        written = stego.embed(message, progress=progress)
    with streams.progress_bar("reading") as progress:
        recovered = stego.extract(written.text, progress=progress).decode()
    seconds = time.perf_counter() - started
    if not json:
        return _show(secret, prompt, written, recovered, seconds)
    streams.write_json(
        {
            "secret": secret,
            "prompt": prompt,
            "text": written.text,
            "recovered": recovered,
            "tokens": written.token_count,
            "bits": written.bits,
            "bits_per_token": written.bits_per_token,
            "kl_filter": written.kl_filter,
            "seconds": seconds,
        }
    )


def _show(secret: str, prompt: str, written: Embedding, recovered: str, seconds: float) -> None:
    text = Text(visible(prompt, keep="\n"), style="bold")
    continuation = visible(written.text.removeprefix(prompt), keep="\n")
    text.append(continuation, style="not bold")
    panel = Panel(text, title="the text that is sent", title_align="left", padding=(1, 2))

    measures = Table.grid(padding=(0, 2))
    for name, value in (
        ("sealed", f"{written.bits} bits: the message, encrypted, padded, with a tag"),
        ("written", f"{written.token_count} tokens of {written.bits_per_token:.2f} bits each"),
        ("cost", f"{written.kl_filter:.4f} bits per token, for dropping ambiguous tokens"),
        ("time", f"{seconds:.1f} s"),
    ):
        measures.add_row(name, value, style="dim")
    streams.show(
        _labelled("to hide", secret), panel, _labelled("read from it", recovered), "", measures
    )


def _labelled(label: str, message: str) -> Text:
    return Text.assemble(f"{label}: ", (visible(message), "bold green"))
