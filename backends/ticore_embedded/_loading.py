"""From a name or a directory to a model: the backend that the core finds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ticore.backend_kit.checkpoint import (
    ModelFiles,
    dtype_and_tokenizer,
    find_model_files,
    open_gguf_files,
    require_fits,
    within_memory,
)
from ticore.backend_kit.network_config import parse_config
from ticore.interfaces import ModelBackend, Tokenizer, TokenizerLoader

from ._families import ARCHITECTURES, build
from ._model import EmbeddedModel
from ._version_1 import is_of_version_1

_MODELS = Path(__file__).parent / "models"
_DTYPES = ("float64", "float32")


class EmbeddedBackend:
    """Loads bundled models, and small models of other makers from a directory or a GGUF file."""

    summary: str = "small Llama, Mistral, Qwen2, Gemma 3 and GPT-2 models in NumPy, no framework"
    shipped: Mapping[str, str] = {
        "tiny-en": "English, 5.9 million parameters, trained on novels and a little web text "
        "(12 MB; 1.536 bits per byte of novels it has not seen; Apache-2.0)",
        "tiny-ja": "Japanese, 6.4 million parameters, trained on literature and the Wikipedia "
        "(13 MB; 1.430 bits per byte of such texts it has not seen; Apache-2.0)",
        "tiny-zh": "Chinese, 6.4 million parameters, trained on Lu Xun, articles and the Wikipedia "
        "(13 MB; 1.894 bits per byte of such texts it has not seen; Apache-2.0)",
    }

    # They are small enough for float64 on any machine, and float64 can be portable.
    shipped_options: Mapping[str, Mapping[str, object]] = {
        name: {"dtype": "float64"} for name in shipped
    }

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
                `./tiny-en` for a directory that is called like a bundled model); or of a GGUF file;
                or a name of the Hugging Face hub.
            load_tokenizer: opens the tokenizer's file.
            options: `dtype`, "float32" (the default) or "float64" (half as fast; other machines
                reproduce its logits to about 1e-12); `tokenizer`, the place of another one.

        Raises:
            ModelFilesError: a file is missing, damaged, of an unsupported kind, or does not go
                with the others.
            SettingsError: an unknown option or dtype.
        """
        dtype, place = dtype_and_tokenizer(options, _DTYPES, "an embedded model")
        files = self._files(location)
        path = files.path
        config = parse_config(files.settings, files.settings_name, ARCHITECTURES)
        tokenizer = files.open_tokenizer(load_tokenizer, place)
        require_fits(path, tokenizer, config.vocab_size)
        eos = next(iter(config.eos_ids), None)
        start = files.find_start_token(config.bos_token, eos, config.vocab_size)
        with within_memory(path, "model"):
            dots = not is_of_version_1(config, start, files.settings)
            network = build(config, files.tensors, dtype, dots=dots)
        return EmbeddedModel(network, tokenizer, files.checkpoint(start))

    def open_tokenizer(self, location: str, load_tokenizer: TokenizerLoader) -> Tokenizer:
        """The tokenizer of the model at `location`; no weight is read.

        Raises:
            ModelFilesError: a file is missing, damaged or of an unsupported kind.
        """
        return self._files(location).open_tokenizer(load_tokenizer)

    def _files(self, location: str) -> ModelFiles:
        bundled = location in self.shipped
        return find_model_files(str(self.folder(location)) if bundled else location)


class GgufBackend(EmbeddedBackend):
    """Loads GGUF files, as `embedded:` does."""

    summary = "GGUF files run in NumPy, without a framework; torch: and jax: open them, too"
    shipped: Mapping[str, str] = {}
    shipped_options: Mapping[str, Mapping[str, object]] = {}

    def _files(self, location: str) -> ModelFiles:
        return open_gguf_files(Path(location))


BACKEND: ModelBackend = EmbeddedBackend()
GGUF: ModelBackend = GgufBackend()
