"""What a caller may choose about a model, checked before anything is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from ticore.backend_kit.checkpoint import dtype_option, require_known_options, text_option
from ticore.errors import SettingsError

DTYPES = {
    "float64": torch.float64,
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


@dataclass(frozen=True)
class Options:
    """How to load a model.

    Attributes:
        dtype: what the weights are converted to and everything is computed in.
        device: where the model runs.
        revision: branch, tag or commit of a model of the hub; None takes its main branch.
        trust_remote_code: run the Python code that comes with the model.
        tokenizer: `BACKEND:LOCATION`; None takes the one beside the weights.
    """

    dtype: torch.dtype
    device: torch.device
    revision: str | None
    trust_remote_code: bool
    tokenizer: str | None


def parse_options(options: Mapping[str, object]) -> Options:
    """The options, with defaults for those not given.

    Raises:
        SettingsError: an unknown option, a value it does not take, a device that is not there.
    """
    known = ("device", "dtype", "revision", "tokenizer", "trust_remote_code")
    require_known_options(options, known, "a torch model")
    dtype = dtype_option(options, DTYPES)
    trust = options.get("trust_remote_code", False)
    if not isinstance(trust, bool):
        raise SettingsError(f"expected trust_remote_code to be True or False, found {trust!r}")
    device = _device(options.get("device"))
    if device.type == "mps" and dtype == "float64":
        raise SettingsError(
            "expected a dtype that device 'mps' computes, found 'float64'; use device='cpu'"
        )
    return Options(
        DTYPES[dtype],
        device,
        text_option(options, "revision"),
        trust,
        text_option(options, "tokenizer"),
    )


def _device(name: object) -> torch.device:
    if name is None:
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(str(name))
    except RuntimeError:
        device = torch.device("meta")  # refused below
    present = {
        "cpu": 1,
        "cuda": torch.cuda.device_count() if torch.cuda.is_available() else 0,
        "mps": int(torch.backends.mps.is_available()),
    }
    if device.type not in present:
        raise SettingsError(f"expected device to be cpu, cuda, cuda:N or mps, found {name!r}")
    if (device.index or 0) >= present[device.type]:
        raise SettingsError(
            f"device {str(name)!r}: expected PyTorch to see it, found {present[device.type]} "
            f"devices of type {device.type}; use device='cpu', or install a PyTorch built for it"
        )
    return device
