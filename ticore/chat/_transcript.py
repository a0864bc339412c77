"""A conversation as a rollout left it: messages with all that a template may write of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import SettingsError, WrongTypeError
from ..interfaces import ChatTemplate

_ASSISTANT = "assistant"


@dataclass(frozen=True)
class Transcript:
    """What was said in a rollout, and the template that writes it again.

    `ticore.compare(tokenizer, ids, reread=transcript)` compares the ids that were sampled with
    those of the messages as the template writes them. Unlike in a `Chat`, which prompts a model, a
    message may have any fields.

    Args:
        messages: {"role": "assistant", "content": "...", "tool_calls": [...]} and the like, in the
            form that the template expects.
        template: a ChatTemplate, or the source of one that names no special tokens. With a
            tokenizer of transformers:
            `ChatTemplate(tokenizer.chat_template, tokenizer.special_tokens_map)`.
        tools: the tools that the template describes, as JSON schemas; None: there are none.

    Raises:
        SettingsError: there is no message, one has no role, or JSON cannot hold a value.
        WrongTypeError: something is not of its type.

    >>> template = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
    >>> Transcript([{"role": "user", "content": "Hi"}], template).ends_with_reply
    False
    """

    messages: Sequence[Mapping[str, Any]]
    template: ChatTemplate | str
    tools: Sequence[Any] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.template, str):
            object.__setattr__(self, "template", ChatTemplate(self.template))
        if not isinstance(self.template, ChatTemplate):
            raise WrongTypeError(
                f"expected a ChatTemplate or its source, found {type(self.template).__name__}"
            )
        _require_list("messages", self.messages)
        if self.tools is not None:
            _require_list("tools", self.tools)
        if not self.messages:
            raise SettingsError("expected at least one message, found none")
        for message in self.messages:
            if not isinstance(message, Mapping):
                raise WrongTypeError(
                    f"expected a message as a mapping, found {type(message).__name__}"
                )
            if not isinstance(message.get("role"), str):
                raise SettingsError(
                    f"expected a message with the field role, found "
                    f"{', '.join(map(str, message)) or 'no field'}"
                )
        try:
            of_template = [dict(self.template.settings), dict(self.template.special_tokens)]
            json.dumps([*map(dict, self.messages), self.tools, *of_template])
        except (TypeError, ValueError, RecursionError) as error:
            raise SettingsError(f"expected values that JSON can hold: {error}") from None

    @property
    def ends_with_reply(self) -> bool:
        """Whether the model spoke last; if not, the template goes on to where it begins to."""
        return bool(self.messages[-1]["role"] == _ASSISTANT)

    def variables(self) -> dict[str, Any]:
        """What the template reads, by the names that Hugging Face gives it."""
        return {
            "messages": [*map(dict, self.messages)],
            "tools": self.tools,
            "documents": None,
            "add_generation_prompt": not self.ends_with_reply,
        }


def _require_list(name: str, given: object) -> None:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Sequence):
        raise WrongTypeError(f"{name}: expected a list, found {type(given).__name__}")
