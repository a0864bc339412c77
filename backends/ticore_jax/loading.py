"""From a directory to a model, in steps that refuse what they cannot use as early as they can."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ticore.errors import ModelFilesError, SettingsError
from ticore.interfaces import TokenizerLoader

from .checkpoint import Checkpoint
from .config import parse_config
from .families import build
from .fields import read_json
from .folder import find_start, open_tokenizer
from .model import JaxModel
from .runner import Runner

_DTYPES = ("float64", "float32", "bfloat16")
# The values that are taken where an option is not given.
_DEFAULTS: dict[str, object] = {"dtype": "float32"}


def load(location: str, load_tokenizer: TokenizerLoader, options: Mapping[str, object]) -> JaxModel:
    """Load the model at `location` onto all devices that JAX sees.

    Args:
        location: the path of a directory with config.json, the weights in model.safetensors or in
            shards that model.safetensors.index.json lists, and tokenizer.model or tokenizer.json.
        load_tokenizer: opens the tokenizer's file.
        options: `dtype`, "float64" (what other machines reproduce to about 1e-12; JAX's 64-bit
            types are enabled for this model alone), "float32" (the default, no TF32) or
            "bfloat16" (half the memory; sums and logits in float32).

    Raises:
        ModelFilesError: a file is missing, damaged, of an unsupported kind, or does not go with
            the others.
        SettingsError: an unknown option or dtype.
    """
    dtype = _dtype(options)
    folder = Path(location)
    if not folder.is_dir():
        raise ModelFilesError(
            f"expected {location!r} to be a directory with config.json, weights in safetensors "
            f"files and a tokenizer, found no directory; fetch the model first"
        )
    where = folder / "config.json"
    config = parse_config(read_json(where, "the config.json of a model"), str(where))
    tokenizer = open_tokenizer(folder, config, load_tokenizer)
    start = find_start(folder, config)
    tensors = Checkpoint(folder)
    runner = Runner(config, build(config, tensors), dtype)
    return JaxModel(runner, tokenizer, start, tensors.digest())


def _dtype(options: Mapping[str, object]) -> str:
    for name in options:
        if name not in _DEFAULTS:
            raise SettingsError(
                f"unknown option {name!r} for a model on JAX: "
                f"the options are {', '.join(sorted(_DEFAULTS))}"
            )
    dtype = (_DEFAULTS | dict(options))["dtype"]
    if dtype not in _DTYPES:
        raise SettingsError(f"expected dtype to be one of {', '.join(_DTYPES)}, found {dtype!r}")
    return str(dtype)
