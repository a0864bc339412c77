"""Proxies of a model and of its Decoder: base classes for models that change one thing."""

from __future__ import annotations

from collections.abc import Sequence

from ticore.errors import SettingsError
from ticore.interfaces import (
    ChatModel,
    ChatTemplate,
    Decoder,
    LanguageModel,
    Logits,
    PortableModel,
    Tokenizer,
)


class ModelProxy:
    """A model that passes every call on to `model`. Subclasses override some of them."""

    def __init__(self, model: LanguageModel) -> None:
        self.model = model

    @property
    def tokenizer(self) -> Tokenizer:
        return self.model.tokenizer

    @property
    def logit_width(self) -> int:
        return self.model.logit_width

    @property
    def eos_ids(self) -> frozenset[int]:
        return self.model.eos_ids

    @property
    def context_length(self) -> int:
        return self.model.context_length

    def start(self, prompt_ids: Sequence[int]) -> Decoder:
        return self.model.start(prompt_ids)

    def score(self, ids: Sequence[int]) -> Logits:
        return self.model.score(ids)

    def digest(self) -> str:
        return self.model.digest()

    def portable_digest(self) -> str:
        if not isinstance(self.model, PortableModel):
            raise SettingsError(
                f"numerics: expected a model that other backends compute as well, found "
                f"{type(self.model).__name__}, which has no portable_digest; use 'same-stack'"
            )
        return self.model.portable_digest()

    @property
    def chat_template(self) -> ChatTemplate | None:
        return self.model.chat_template if isinstance(self.model, ChatModel) else None

    def encode_conversation(self, text: str) -> list[int]:
        if not isinstance(self.model, ChatModel):
            raise TypeError("expected a chat model: another one has no template")
        return self.model.encode_conversation(text)


class DecoderProxy:
    """A Decoder that passes every call on to `decoder`."""

    def __init__(self, decoder: Decoder) -> None:
        self.decoder = decoder

    @property
    def ids(self) -> Sequence[int]:
        return self.decoder.ids

    def logits(self) -> Logits:
        return self.decoder.logits()

    def push(self, token: int) -> None:
        self.decoder.push(token)

    def rewind(self, count: int) -> None:
        self.decoder.rewind(count)
