"""The ids of a prompt, as one model reads it."""

from __future__ import annotations

from collections.abc import Sequence

from .._support.checks import checked_ids
from ..errors import PromptError
from ..interfaces import ChatModel, LanguageModel
from ._chat import Chat
from ._rendering import rendered

Prompt = str | Chat | Sequence[int]
"""What a model goes on with: a text, a conversation, or token ids."""


def prompt_ids(model: LanguageModel, prompt: Prompt) -> list[int]:
    """The ids of a prompt of any kind.

    Raises:
        PromptError, MissingExtraError: as `conversation_ids`.
        SettingsError: an id has no logit, or a text has a lone surrogate.
        WrongTypeError: the prompt is bytes, or an id is not an integer.
    """
    if isinstance(prompt, Chat):
        return conversation_ids(model, prompt)
    if isinstance(prompt, str):
        return model.tokenizer.encode(prompt)
    return checked_ids(prompt, model.logit_width)


def conversation_ids(model: LanguageModel, chat: Chat) -> list[int]:
    """What `model` reads of a conversation before it writes its reply.

    The model's own template writes the conversation, with its special tokens. A date that a
    template asks for is not given: two sides that render it on two days get the same prompt.

    Args:
        model: a chat model.
        chat: the conversation.

    Raises:
        PromptError: the model has no template, or its template refuses the conversation, does what
            a template must not do, or takes too long.
        MissingExtraError: the package jinja2 is not installed.
    """
    template = model.chat_template if isinstance(model, ChatModel) else None
    if template is None or not isinstance(model, ChatModel):
        raise PromptError(
            "expected a model with a chat template, found one without; give it a text to go on "
            "with, or take a chat model such as smollm2"
        )
    return model.encode_conversation(rendered(template, chat))
