"""From a directory to a model, in steps that refuse what they cannot use as early as they can."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ticore.backend_kit.checkpoint import (
    Checkpoint,
    Tensors,
    find_start_token,
    open_tokenizer,
    read_config,
    require_fits,
    within_memory,
)
from ticore.backend_kit.network_config import parse_config
from ticore.errors import ModelFilesError, SettingsError
from ticore.interfaces import TokenizerLoader

from ._families import ARCHITECTURES, build
from ._model import JaxModel
from ._runner import Runner

_DTYPES = ("float64", "float32", "bfloat16")
# The values that are taken where an option is not given.
_DEFAULTS: dict[str, object] = {"dtype": "float32", "tokenizer": None}


def load(location: str, load_tokenizer: TokenizerLoader, options: Mapping[str, object]) -> JaxModel:
    """Load the model at `location` onto all devices that JAX sees.

    Args:
        location: the path of a directory with config.json, the weights in model.safetensors or in
            shards that model.safetensors.index.json lists, and tokenizer.model or tokenizer.json.
        load_tokenizer: opens the tokenizer's file.
        options: `dtype`, "float64" (what other machines reproduce to about 1e-12; JAX's 64-bit
            types are enabled for this model alone), "float32" (the default, no TF32) or
            "bfloat16" (half the memory; sums and logits in float32); `tokenizer`, the place of
            another one.

    Raises:
        ModelFilesError: a file is missing, damaged, of an unsupported kind, or does not go with
            the others.
        SettingsError: an unknown option or dtype.
    """
    dtype, place = _parse(options)
    folder = Path(location)
    if not folder.is_dir():
        raise ModelFilesError(
            f"expected {location!r} to be a directory with config.json, weights in safetensors "
            f"files and a tokenizer, found no directory; fetch the model first"
        )
    settings = read_config(folder)
    config = parse_config(settings, str(folder / "config.json"), ARCHITECTURES)
    tokenizer = open_tokenizer(folder, load_tokenizer) if place is None else load_tokenizer(place)
    require_fits(folder, tokenizer, config.vocab_size)
    eos = next(iter(config.eos_ids), None)
    start = find_start_token(folder, config.bos_token, eos, config.vocab_size)
    tensors = Tensors(folder)
    with within_memory(folder, "model"):
        runner = Runner(config, build(config, tensors), dtype)
    return JaxModel(runner, tokenizer, Checkpoint(settings, tensors, start))


def _parse(options: Mapping[str, object]) -> tuple[str, str | None]:
    """The dtype, and the place of another tokenizer."""
    for name in options:
        if name not in _DEFAULTS:
            raise SettingsError(
                f"unknown option {name!r} for a model on JAX: "
                f"the options are {', '.join(sorted(_DEFAULTS))}"
            )
    chosen = _DEFAULTS | dict(options)
    dtype, tokenizer = chosen["dtype"], chosen["tokenizer"]
    if dtype not in _DTYPES:
        raise SettingsError(f"expected dtype to be one of {', '.join(_DTYPES)}, found {dtype!r}")
    if not isinstance(tokenizer, str | None):
        raise SettingsError(f"expected tokenizer to be a place or None, found {tokenizer!r}")
    return str(dtype), tokenizer
