"""From a name or a directory to a model: the backend that the core finds."""

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
from ticore.interfaces import ModelBackend, TokenizerLoader

from ._families import ARCHITECTURES, build
from ._model import EmbeddedModel
from ._version_1 import is_of_version_1

_MODELS = Path(__file__).parent / "models"
_DTYPES = ("float64", "float32")
# The values that are taken where an option is not given.
_DEFAULTS: dict[str, object] = {"dtype": "float32"}


class EmbeddedBackend:
    """Loads bundled models, and small models of other makers from a directory."""

    summary: str = "small Llama, Mistral, Qwen2, Gemma 3 and GPT-2 models in NumPy, no framework"
    shipped: Mapping[str, str] = {
        "tiny-en": "English, 5.9 million parameters, trained on novels and a little web text",
    }

    # It is small enough for float64 on any machine, and float64 can be portable.
    shipped_options: Mapping[str, Mapping[str, object]] = {"tiny-en": {"dtype": "float64"}}

    def folder(self, model: str) -> Path:
        """The directory of a bundled model."""
        return _MODELS / model

    def load(
        self, location: str, load_tokenizer: TokenizerLoader, options: Mapping[str, object]
    ) -> EmbeddedModel:
        """Load the model at `location`.

        Args:
            location: the name of a bundled model, or the path of a directory with config.json,
                weights in safetensors files, and tokenizer.model or tokenizer.json (write
                `./tiny-en` for a directory that is called like a bundled model).
            load_tokenizer: opens the tokenizer's file.
            options: `dtype`, "float32" (the default) or "float64" (half as fast; other machines
                reproduce its logits to about 1e-12).

        Raises:
            ModelFilesError: a file is missing, damaged, of an unsupported kind, or does not go
                with the others.
            SettingsError: an unknown option or dtype.
        """
        dtype = _dtype(options)
        folder = self.folder(location) if location in self.shipped else Path(location)
        if not folder.is_dir():
            raise ModelFilesError(
                f"expected {location!r} to be a directory with config.json, weights in "
                f"safetensors files and a tokenizer, or the name of a bundled model "
                f"({', '.join(sorted(self.shipped))}); found no directory {folder}"
            )
        settings = read_config(folder)
        config = parse_config(settings, str(folder / "config.json"), ARCHITECTURES)
        tokenizer = open_tokenizer(folder, load_tokenizer)
        require_fits(folder, tokenizer, config.vocab_size)
        eos = next(iter(config.eos_ids), None)
        start = find_start_token(folder, config.bos_token, eos, config.vocab_size)
        tensors = Tensors(folder)
        with within_memory(folder, "model"):
            network = build(config, tensors, dtype, dots=not is_of_version_1(config, start))
        return EmbeddedModel(network, tokenizer, Checkpoint(settings, tensors, start))


def _dtype(options: Mapping[str, object]) -> str:
    for name in options:
        if name not in _DEFAULTS:
            raise SettingsError(
                f"unknown option {name!r} for an embedded model: "
                f"the options are {', '.join(sorted(_DEFAULTS))}"
            )
    dtype = (_DEFAULTS | dict(options))["dtype"]
    if dtype not in _DTYPES:
        raise SettingsError(f"expected dtype to be one of {', '.join(_DTYPES)}, found {dtype!r}")
    return str(dtype)


BACKEND: ModelBackend = EmbeddedBackend()
