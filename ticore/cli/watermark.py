"""`ticore watermark`: a text that carries a watermark, and keeps it on the way through text."""

from __future__ import annotations

import inspect
from dataclasses import asdict
from itertools import chain
from typing import Annotated, Any, cast, get_args

import typer

from ..consistency import View
from ..interfaces import LanguageModel
from ..registry import load_model
from ..watermarking import Generated, Watermarker, Writing
from . import streams
from .marks import (
    DEFAULT_SCHEME,
    Delta,
    Gamma,
    Greens,
    KeyFile,
    Scheme,
    SchemeVersion,
    read_key,
    scheme_settings,
    wrong_settings_are_wrong_usage,
)
from .secrets import warn_of_others
from .settings import DEFAULT_MODEL, Device, Dtype, Place, model_options
from .usage import UsageError

_LIBRARY = inspect.signature(Watermarker).parameters
_TOKENS: int = inspect.signature(Watermarker.generate).parameters["tokens"].default
_OBSERVATION: int = _LIBRARY["observation"].default


def watermark(
    key_file: KeyFile,
    prompt: Annotated[
        str, typer.Option(metavar="TEXT", help="What the model continues.", show_default="empty")
    ] = "",
    model: Place = DEFAULT_MODEL,
    dtype: Dtype = None,
    device: Device = None,
    scheme: Scheme = DEFAULT_SCHEME,
    gamma: Gamma = None,
    delta: Delta = None,
    greens: Greens = None,
    scheme_version: SchemeVersion = None,
    tokens: Annotated[
        int, typer.Option(metavar="N", help="Write so many tokens at most.")
    ] = _TOKENS,
    observation: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="How many further tokens an inconsistency is given to vanish before it is taken "
            f"back.  [default: {_OBSERVATION}]",
            show_default=False,
        ),
    ] = None,
    no_rollback: Annotated[
        bool,
        typer.Option("--no-rollback", help="Take nothing back: the text may not keep its tokens."),
    ] = False,
    view: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What is sent: whole, the prompt and what follows it, or continuation, only what "
            "follows.",
        ),
    ] = _LIBRARY["view"].default,
    temperature: Annotated[
        float, typer.Option(metavar="X", help="Above 0: below 1 the text is more usual.")
    ] = _LIBRARY["temperature"].default,
    top_k: Annotated[
        int, typer.Option(metavar="N", help="Choose each token from the N likeliest; 0: from all.")
    ] = _LIBRARY["top_k"].default or 0,
    top_p: Annotated[
        float,
        typer.Option(
            metavar="X", help="Of these keep the likeliest that hold this share, at most 1."
        ),
    ] = _LIBRARY["top_p"].default,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Write the same text each time; without it, another one.",
            show_default=False,
        ),
    ] = None,
    no_end_of_text: Annotated[
        bool, typer.Option("--no-end-of-text", help="Keep the model from ending the text early.")
    ] = False,
    stream: Annotated[
        bool, typer.Option("--stream", help="Show each piece of the text once it is settled.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print a JSON object instead.")] = False,
) -> None:
    """Write a text with a watermark.

    It goes to standard output. Who has the key finds the watermark with `ticore detect`.
    """
    if stream and json:
        raise UsageError("give --stream or --json, not both")
    if no_rollback and observation is not None:
        raise UsageError("give --observation or --no-rollback, not both")
    if view not in get_args(View):
        raise UsageError(
            f"--view: expected one of {', '.join(get_args(View))}, found {streams.printable(view)}"
        )
    key = read_key(key_file)
    opened = load_model(model, **model_options(dtype, device))
    with wrong_settings_are_wrong_usage():
        writer = Watermarker(
            opened,
            scheme,
            key=key,
            observation=None
            if no_rollback
            else _OBSERVATION
            if observation is None
            else observation,
            view=cast(View, view),
            end_of_text=not no_end_of_text,
            temperature=temperature,
            top_k=top_k or None,
            top_p=top_p,
            seed=seed,
            **scheme_settings(gamma=gamma, delta=delta, greens=greens, version=scheme_version),
        )
        if stream:
            before = _decoded(opened, prompt) if view == "whole" else ""
            written = _stream(writer.stream(prompt, tokens), before)
        else:
            with streams.progress_bar("writing"):
                written = writer.generate(prompt, tokens)
    if json:
        streams.write_json(_as_json(written, scheme, getattr(writer.scheme, "version", None)))
    elif not stream:
        streams.write_line((written.whole if view == "whole" else written.text).encode())
    if written.end in ("dead end", "context"):
        streams.note(f"ticore: {_why_short(written, tokens)}")
    warn_of_others(key_file)


def _stream(writing: Writing, before: str) -> Generated:
    """Write what stands before the text, and the text as it is settled."""
    last = ""
    for piece in chain([before], writing):
        if piece:
            streams.write_bytes(piece.encode())
            last = piece
    if not last.endswith("\n"):
        streams.write_line(b"")  # A terminal's prompt is to stand on a line of its own.
    return writing.result()


def _decoded(model: LanguageModel, prompt: str) -> str:
    return model.tokenizer.decode(model.tokenizer.encode(prompt))


def _as_json(written: Generated, scheme: str, version: int | None) -> dict[str, Any]:
    return {**asdict(written), "scheme": scheme, "version": version}


def _why_short(written: Generated, tokens: int) -> str:
    why = {
        "dead end": "no token may follow that its reader would find again",
        "context": "the model can read no more",
    }[written.end]
    return f"the text ends after {len(written.ids)} of {tokens} tokens: {why}"
