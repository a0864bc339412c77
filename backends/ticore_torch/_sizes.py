"""Sizes that a config states, compared with the tensors there are before anything is made.

transformers makes every layer, and up to a point every number, that a config asks for, and looks
for weights afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, PreTrainedConfig

from ticore.backend_kit.checkpoint import Tensors
from ticore.errors import ModelFilesError

# How configs name the number of layers. Each layer has at least one tensor.
_LAYERS = ("num_hidden_layers", "num_layers", "n_layers", "n_layer")
# Weights that are tied, or shared, are stored once; a small network has a few others.
_NUMBERS_PER_STORED, _SPARE_NUMBERS = 2, 1_000_000
# Quantized weights lie packed, in one bit each at least.
_NUMBERS_PER_BYTE = 8


def require_layers(folder: Path, settings: Mapping[str, object], tensors: Tensors) -> None:
    """Raise ModelFilesError where a config.json states more layers than there are tensors."""
    for name, count in _stated_layers(settings):
        if count > len(tensors):
            raise ModelFilesError(
                f"{folder}: expected {name} to be at most {len(tensors):,}, the number of tensors, "
                f"found {count:,}; check that config.json belongs to these weights"
            )


def require_numbers(
    folder: Path, config: PreTrainedConfig, tensors: Tensors, *, trust_remote_code: bool
) -> None:
    """Raise ModelFilesError where the network of `config` has far more numbers than are stored."""
    wanted = 0
    # A config from which no network can be made fails when it is loaded, with that error.
    with suppress(Exception), torch.device("meta"):
        auto: Any = AutoModelForCausalLM  # not annotated
        network = auto.from_config(config, trust_remote_code=trust_remote_code)
        wanted = sum(parameter.numel() for parameter in network.parameters())
    packed = getattr(config, "quantization_config", None) is not None
    most = tensors.size * _NUMBERS_PER_BYTE if packed else tensors.numbers * _NUMBERS_PER_STORED
    if wanted > most + _SPARE_NUMBERS:
        raise ModelFilesError(
            f"{folder}: expected a config.json for the {tensors.numbers:,} numbers of these "
            f"weights, found one for {wanted:,}; check that it belongs to these weights"
        )


def _stated_layers(settings: Mapping[str, object]) -> Iterator[tuple[str, int]]:
    for name, value in settings.items():
        if isinstance(value, dict):  # a part of the model, such as text_config
            yield from _stated_layers(value)
        elif name in _LAYERS and type(value) is int:
            yield name, value
