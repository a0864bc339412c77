"""`ticore demo`: a message goes into a text and comes out again, for all to see."""

from __future__ import annotations

import time
from typing import Annotated

import typer
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from ..registry import load_model
from ..steganography import Embedding, Steganographer, new_key
from . import streams
from .settings import DEFAULT_MODEL

SECRET = "meet at noon"
PROMPT = "The morning was cold and"


def demo(
    secret: Annotated[str, typer.Option(help="What to hide.")] = SECRET,
    prompt: Annotated[str, typer.Option(help="How the text begins.")] = PROMPT,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Hide a message in a text by the embedded model and read it back."""
    started = time.perf_counter()
    stego = Steganographer(load_model(DEFAULT_MODEL), key=new_key(), prompt=prompt)
    with streams.progress_bar("hiding") as progress:
        written = stego.embed_report(secret.encode(), progress)
    with streams.progress_bar("reading") as progress:
        recovered = stego.extract(written.text, progress).decode()
    seconds = time.perf_counter() - started
    if not json:
        return _show(secret, prompt, written, recovered, seconds)
    streams.write_json(
        {
            "secret": secret,
            "prompt": prompt,
            "text": written.text,
            "recovered": recovered,
            "tokens": written.tokens,
            "bits": written.bits,
            "bits_per_token": written.bits_per_token,
            "kl_filter": written.kl_filter,
            "seconds": seconds,
        }
    )


def _show(secret: str, prompt: str, written: Embedding, recovered: str, seconds: float) -> None:
    console = Console()
    text = Text(prompt, style="bold") + Text(written.text.removeprefix(prompt), style="default")
    console.print(f"to hide       [bold green]{secret}", highlight=False)
    console.print(Panel(text, title="the text that is sent", title_align="left", padding=(1, 2)))
    console.print(f"read from it  [bold green]{recovered}", highlight=False)
    console.print(
        f"{written.bits} bits, key and length sealed in, in {written.tokens} tokens: "
        f"{written.bits_per_token:.2f} bits a token; dropping inconsistent tokens cost "
        f"{written.kl_filter:.4f} bits a token; {seconds:.1f} s",
        style="dim",
        highlight=False,
    )
