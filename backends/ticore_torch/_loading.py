"""From a place to a model."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from transformers import PreTrainedConfig, PreTrainedModel

from ticore.backend_kit.checkpoint import (
    Checkpoint,
    Tensors,
    find_start_token,
    open_tokenizer,
    require_fits,
)
from ticore.backend_kit.checkpoint import read_config as read_settings
from ticore.errors import ModelFilesError
from ticore.interfaces import TokenizerLoader

from ._model import TorchModel
from ._network import Network, ids_of
from ._options import parse_options
from ._places import find_folder
from ._precision import reproducible
from ._probe import probe
from ._sizes import require_layers, require_numbers
from ._weights import asking, read_config, read_network, require_config

# How configs name the number of positions. A model without such a number (a recurrent one, or one
# that only weighs distances) is given more than anybody writes.
_POSITIONS = ("max_position_embeddings", "max_sequence_length", "max_seq_len", "n_positions")
_NO_LIMIT = 1 << 20


def load(
    location: str, load_tokenizer: TokenizerLoader, options: Mapping[str, object]
) -> TorchModel:
    """Load the model at `location`.

    Args:
        location: the path of a directory with config.json, safetensors files and tokenizer.model
            or tokenizer.json, or a name of the Hugging Face hub (write `./name` for a directory
            that is called like a model there).
        load_tokenizer: opens the tokenizer beside the weights; see
            `ticore.backend_kit.checkpoint.open_tokenizer`.
        options: `dtype`, "float32" (the default), "float64", "bfloat16" or "float16"; `device`,
            "cpu", "cuda", "cuda:N" or "mps" (by default "cuda" if there is one, else "cpu");
            `revision`, of a model of the hub; `trust_remote_code`, False by default; `tokenizer`,
            the place of another tokenizer.

    Raises:
        ModelFilesError: a file is missing, damaged, of an unsupported kind, or does not go with
            the others.
        SettingsError: an unknown option, or a value it does not take.
    """
    chosen = parse_options(options)
    folder = find_folder(location, chosen.revision, with_code=chosen.trust_remote_code)
    require_config(folder)
    settings, tensors = read_settings(folder), Tensors(folder)  # these refuse damaged files
    require_layers(folder, settings, tensors)
    config = read_config(folder, chosen)
    tokenizer = (
        load_tokenizer(chosen.tokenizer)
        if chosen.tokenizer is not None
        else open_tokenizer(folder, load_tokenizer)
    )
    with asking(folder):
        require_numbers(folder, config, tensors, trust_remote_code=chosen.trust_remote_code)
    module = read_network(folder, config, chosen)
    with asking(folder):
        network = Network(module, partial(reproducible, chosen.dtype))
        width = probe(folder, network, chosen.dtype)
    require_fits(folder, tokenizer, width)
    bos, eos = special_ids(module, "bos_token_id"), special_ids(module, "eos_token_id")
    require_logits(folder, width, bos_token_id=bos, eos_token_id=eos)
    start = find_start_token(folder, next(iter(bos), None), next(iter(eos), None), width)
    return TorchModel(
        network,
        tokenizer,
        width=width,
        checkpoint=Checkpoint(settings, tensors, start),
        start=start,
        positions=positions_of(config),
        eos_ids=frozenset(eos),
    )


def special_ids(module: PreTrainedModel, name: str) -> list[int]:
    """Ids that generation_config.json, or else config.json, gives this name."""
    found = getattr(module.generation_config, name, None)
    return ids_of(getattr(module.config.get_text_config(), name, None) if found is None else found)


def require_logits(folder: Path | str, width: int, **named: list[int]) -> None:
    """Refuse ids without a logit. Raises ModelFilesError, which calls the model `folder`."""
    for name, ids in named.items():
        for token in ids:
            if not 0 <= token < width:
                raise ModelFilesError(
                    f"{folder}: expected {name} to be ids from 0 to {width - 1}, found {token}; "
                    f"check that config.json and generation_config.json belong to these weights"
                )


def positions_of(config: PreTrainedConfig) -> int:
    """How many ids the network can read."""
    text = config.get_text_config()
    found = (getattr(text, name, None) for name in _POSITIONS)
    return next((n for n in found if isinstance(n, int) and n > 0), _NO_LIMIT)
