"""From files to a model, in steps that refuse what they cannot use as early as they can."""

from __future__ import annotations

from collections.abc import Mapping

from ticore.backend_kit.checkpoint import (
    dtype_and_tokenizer,
    find_model_files,
    require_fits,
    within_memory,
)
from ticore.backend_kit.network_config import parse_config
from ticore.interfaces import TokenizerLoader

from ._families import ARCHITECTURES, build
from ._model import JaxModel
from ._runner import Runner

_DTYPES = ("float64", "float32", "bfloat16")


def load(location: str, load_tokenizer: TokenizerLoader, options: Mapping[str, object]) -> JaxModel:
    """Load the model at `location` onto all devices that JAX sees.

    Args:
        location: the path of a directory with config.json, the weights in model.safetensors or in
            shards that model.safetensors.index.json lists, and tokenizer.model or tokenizer.json;
            or of a GGUF file; or a name of the hub, such as `Qwen/Qwen2.5-0.5B`.
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
    dtype, place = dtype_and_tokenizer(options, _DTYPES, "a model on JAX")
    files = find_model_files(location)
    path = files.path
    config = parse_config(files.settings, files.settings_name, ARCHITECTURES)
    tokenizer = files.open_tokenizer(load_tokenizer, place)
    require_fits(path, tokenizer, config.vocab_size)
    eos = next(iter(config.eos_ids), None)
    start = files.find_start_token(config.bos_token, eos, config.vocab_size)
    with within_memory(path, "model"):
        runner = Runner(config, build(config, files.tensors), dtype)
    return JaxModel(runner, tokenizer, files.checkpoint(start))
