"""`ticore fingerprint`: whether two machines compute alike, before they exchange messages."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, get_args

from rich.table import Table
from rich.text import Text

from ..errors import SettingsError
from ..evaluation import Fingerprint
from ..evaluation import fingerprint as take
from ..registry import load_model
from ..steganography._portability import TOLERANCE, Numerics
from . import streams
from .options import Json, file_option
from .settings import DEFAULT_MODEL, Device, Dtype, Place, model_options

_SHOWN = 16  # digits of a digest in the table
_COMPARISON = "Comparison"  # a section of the help


def fingerprint(
    model: Place = DEFAULT_MODEL,
    dtype: Dtype = None,
    device: Device = None,
    compare: Annotated[
        Path | None,
        file_option(
            "Compare with another machine: a file that this command wrote there with --json.",
            panel=_COMPARISON,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Print a few digests of what a model computes here.

    Run it on two machines. If `model`, `tokenizer` and `logits` are equal, one machine reads what
    the other writes with numerics same-stack. If `portable`, `tokenizer` and `pools` are equal, it
    reads what the other writes with numerics portable. With --compare, the exit status is 1 if
    neither is the case.
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
            f"expected this machine to compute as {compare} says, found other digests; use the "
            f"same model files and tokenizer on both machines, and --dtype float64"
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
        alike = "" if other is None else "equal" if getattr(other, name) == digest else "differs"
        shown = "none: needs float64" if digest is None else str(digest)[:_SHOWN]
        grid.add_row(Text(name, style="bold"), Text(shown), Text(alike))
    noise = f"{found.noise:.1e} at {found.positions} positions"
    if found.portable is not None:
        noise += f"; portable texts tolerate {TOLERANCE:.0e}"
    grid.add_row(Text("noise", style="bold"), Text(noise))
    for name, agrees in verdicts.items():
        style = "green" if agrees else "red"
        grid.add_row(Text(name, style="bold"), Text("yes" if agrees else "no", style=style))
    return grid
