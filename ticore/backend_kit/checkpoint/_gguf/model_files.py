"""A GGUF file, as backends load it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from ....interfaces import Tokenizer, TokenizerLoader
from .._model_files import ModelFiles
from .._safetensors_files import Tensors
from .._start_token import StartToken
from . import vocabulary
from .container import Container, read_container
from .families import Network, read_network

# The backend that builds each kind of tokenizer.
_BACKENDS = {"llama": "sentencepiece", "t5": "sentencepiece", "gpt2": "tokenizers"}


class GgufFiles(ModelFiles):
    """One GGUF file."""

    @cached_property
    def settings(self) -> Mapping[str, object]:
        """As in the config.json of the Hugging Face checkpoint."""
        settings = self._network.settings
        width = int(str(settings["vocab_size"]))
        bos, ends = self.separators(width)
        eos = ends if len(ends) > 1 else next(iter(ends), None)
        return {**settings, "bos_token_id": bos, "eos_token_id": eos}

    @property
    def settings_name(self) -> str:
        return str(self.path)

    @cached_property
    def tensors(self) -> Tensors:
        """By the names of the Hugging Face checkpoint, and in its layout."""
        return Tensors.of(self.path, self._network.tensors, "fetch the file again, or use another")

    @property
    def chat_template(self) -> str | None:
        return vocabulary.chat_template(self.path, self._metadata)

    @cached_property
    def special_tokens(self) -> Mapping[str, str]:
        return vocabulary.special_tokens(self.path, self._metadata)

    def _open_own(self, load_tokenizer: TokenizerLoader) -> Tokenizer:
        backend = _BACKENDS[vocabulary.tokenizer_kind(self.path, self._metadata)]
        return load_tokenizer(f"{backend}:{self.path}")

    def find_start_token(self, bos: int | None, eos: int | None, width: int) -> StartToken:
        return vocabulary.start_token(self.path, self._metadata, bos, eos)

    def separators(self, width: int) -> tuple[int | None, list[int]]:
        """The id that begins a text, if any, and those that end one; see `vocabulary.separators`.

        It asks nothing of the network, whose family may be unknown here.
        """
        return vocabulary.separators(self.path, self._metadata, width)

    @cached_property
    def _container(self) -> Container:
        return read_container(self.path)

    @property
    def _metadata(self) -> Mapping[str, object]:
        return self._container.metadata

    @cached_property
    def _network(self) -> Network:
        return read_network(self.path, self._container)
