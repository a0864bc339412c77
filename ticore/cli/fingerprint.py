"""`ticore fingerprint`: whether two machines compute alike, before they are trusted to."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, get_args

import typer
from rich.table import Table
from rich.text import Text

from ..errors import SettingsError
from ..evaluation import Fingerprint
from ..evaluation import fingerprint as take
from ..registry import load_model
from ..steganography.numerics import TOLERANCE, Numerics
from . import streams
from .settings import DEFAULT_MODEL, Device, Dtype, Place, model_options

_SHOWN = 16  # digits of a digest that a person compares


def fingerprint(
    model: Place = DEFAULT_MODEL,
    dtype: Dtype = None,
    device: Device = None,
    compare: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            readable=False,
            help="Say whether the machine that wrote this file, with --json, computes alike.",
            show_default=False,
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print a JSON object instead.")] = False,
) -> None:
    """Say in a few digests what a model computes here.

    Where the digests are equal on two machines, one reads the texts that the other writes: with
    numerics same-stack where those of model and logits are, with numerics portable where those of
    portable and pools are. With --compare the exit status is 1 if neither holds.
    """
    other = None if compare is None else _read(compare)
    opened = load_model(model, **model_options(dtype, device))
    with streams.progress_bar("reading") as progress:
        found = take(opened, progress)
    verdicts = {} if other is None else {name: found.agrees(other, name) for name in _NUMERICS}
    if json:
        streams.write_json(asdict(found) | ({"agrees": verdicts} if verdicts else {}))
    else:
        streams.show(_table(found, other, verdicts))
    if verdicts and not any(verdicts.values()):
        raise SettingsError(
            f"expected a machine that computes as {compare} says, found one that does not; use the "
            f"same files and tokenizer, and on both sides --dtype float64"
        )


_NUMERICS: tuple[Numerics, ...] = get_args(Numerics)


def _read(path: Path) -> Fingerprint:
    values = streams.read_json_file(path, "a fingerprint, made with: ticore fingerprint --json")
    if isinstance(values, dict):
        values.pop("agrees", None)
    return Fingerprint.from_dict(values, str(path))


def _table(found: Fingerprint, other: Fingerprint | None, verdicts: dict[Numerics, bool]) -> Table:
    grid = Table.grid(padding=(0, 2))
    for name, digest in asdict(found).items():
        if name in ("positions", "noise"):
            continue
        alike = "" if other is None else "same" if getattr(other, name) == digest else "other"
        shown = "none: not in float64" if digest is None else str(digest)[:_SHOWN]
        grid.add_row(Text(name, style="bold"), Text(shown), Text(alike))
    noise = f"{found.noise:.1e}, by {found.positions} rows of logits"
    if found.portable is not None:
        noise += f"; portable texts bear {TOLERANCE:.0e}"
    grid.add_row(Text("noise", style="bold"), Text(noise))
    for name, agrees in verdicts.items():
        style = "green" if agrees else "red"
        grid.add_row(Text(name, style="bold"), Text("yes" if agrees else "no", style=style))
    return grid
