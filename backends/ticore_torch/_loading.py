"""From a place to a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from transformers import PreTrainedConfig, PreTrainedModel

from ticore.backend_kit.checkpoint import find_model_files, require_fits
from ticore.errors import ModelFilesError, shown
from ticore.interfaces import TokenizerLoader

from ._model import TorchModel
from ._network import Network
from ._options import parse_options
from ._precision import reproducible
from ._probe import probe
from ._sizes import require_layers, require_numbers
from ._weights import asking, read_config, read_network

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
            that is called like a model there); or the path of a GGUF file.
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
    files = find_model_files(
        location, chosen.revision, with_code=chosen.trust_remote_code, without_owner=True
    )
    path = files.path
    settings, tensors = files.settings, files.tensors  # these refuse damaged files
    require_layers(path, settings, tensors)
    config = read_config(files, chosen)
    tokenizer = files.open_tokenizer(load_tokenizer, chosen.tokenizer)
    with asking(path):
        require_numbers(path, config, tensors, trust_remote_code=chosen.trust_remote_code)
    module = read_network(files, config, chosen)
    with asking(path):
        network = Network(module, partial(reproducible, chosen.dtype))
        width = probe(path, network, chosen.dtype)
    require_fits(path, tokenizer, width)
    bos, eos = special_ids(module, "bos_token_id"), special_ids(module, "eos_token_id")
    require_logits(path, width, bos_token_id=bos, eos_token_id=eos)
    start = files.find_start_token(next(iter(bos), None), next(iter(eos), None), width)
    return TorchModel(
        network,
        tokenizer,
        width=width,
        checkpoint=files.checkpoint(start),
        start=start,
        positions=positions_of(config),
        eos_ids=frozenset(eos),
    )


def special_ids(module: PreTrainedModel, name: str) -> list[int]:
    """Ids that generation_config.json, or else config.json, gives this name.

    Raises:
        ModelFilesError: it gives something else.
    """
    found = getattr(module.generation_config, name, None)
    if found is None:
        found = getattr(module.config.get_text_config(), name, None)
    several = found if isinstance(found, list | tuple) else [] if found is None else [found]
    if not all(type(token) is int for token in several):
        raise ModelFilesError(
            f"expected {name} to be an id, a list of ids or null, found {shown(found)}; correct "
            f"generation_config.json or config.json"
        )
    return list(several)


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
    """How many ids the network can read, with logits that depend on the ids before alone.

    With `longrope` (Phi-3 128k and later) transformers turns all positions of a pass by other
    angles once one of them is beyond the length that the model was first trained for. Then a text's
    logits would depend on those beside it, and on what follows, so texts end there.
    """
    text = config.get_text_config()
    found = (getattr(text, name, None) for name in _POSITIONS)
    most = next((n for n in found if isinstance(n, int) and n > 0), _NO_LIMIT)
    return min([most, *_longrope_limits(text)])


def _longrope_limits(config: PreTrainedConfig) -> Iterator[int]:
    """The lengths after which angles change."""
    ropes = getattr(config, "rope_parameters", None) or {}
    each = [ropes] if "rope_type" in ropes else ropes.values()  # of all layers, or of each kind
    for rope in each:
        if isinstance(rope, Mapping) and rope.get("rope_type") == "longrope":
            of_all = getattr(config, "original_max_position_embeddings", None)
            limit = rope.get("original_max_position_embeddings", of_all)
            if isinstance(limit, int):
                yield limit
