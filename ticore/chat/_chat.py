"""A conversation: who said what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike

from .._support.input_files import parse_json, read_file
from .._support.utf8 import require_unicode
from ..errors import InputFileError, SettingsError, WrongTypeError

_MOST_BYTES = 16 << 20  # more than any context holds


@dataclass(frozen=True, init=False)
class Chat:
    """A conversation with a model, whose next turn is the model's: a prompt for its reply.

    Args:
        messages: {"role": "user", "content": "..."} each, the first one first. Roles are those that
            the model's template knows, usually `user` and `assistant`.
        system: the content of a first message of the role `system`; None: there is none.

    Attributes:
        messages: (role, content) of each message, with that of the system.

    Raises:
        SettingsError: there is no message, one has other fields, or a text has a lone surrogate.
        WrongTypeError: something is not of its type.

    >>> Chat([{"role": "user", "content": "What is the tallest mountain?"}], system="Be brief.")
    Chat(messages=(('system', 'Be brief.'), ('user', 'What is the tallest mountain?')))
    """

    messages: tuple[tuple[str, str], ...]

    def __init__(self, messages: Sequence[Mapping[str, str]], *, system: str | None = None) -> None:
        if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
            raise WrongTypeError(
                f"expected a list of messages, found {type(messages).__name__}; "
                f"write [{{'role': 'user', 'content': '...'}}], or Chat.ask('...')"
            )
        first = [] if system is None else [_message({"role": "system", "content": system})]
        found = (*first, *map(_message, messages))
        if not found:
            raise SettingsError("expected a conversation of at least one message, found none")
        object.__setattr__(self, "messages", found)

    @classmethod
    def ask(cls, user: str, *, system: str | None = None) -> Chat:
        """The conversation that begins with one message of a user."""
        return cls([{"role": "user", "content": user}], system=system)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Chat:
        """The conversation in a file. Raises InputFileError: as `loads`, or it cannot be read."""
        return cls.loads(read_file(path, _MOST_BYTES), str(path))

    @classmethod
    def loads(cls, text: str | bytes, source: str = "the conversation") -> Chat:
        """The conversation in JSON: a list of messages, or an object with such `messages`.

        Args:
            text: the JSON; bytes in UTF-8.
            source: the file's name, for the error's text.

        Raises:
            InputFileError: it is not JSON, or not a conversation.
        """
        try:
            found = parse_json(text if isinstance(text, str) else text.decode())
            if isinstance(found, dict) and "messages" in found:
                found = found["messages"]
            return cls(found)
        except (ValueError, WrongTypeError) as error:
            raise InputFileError(
                f"{source}: expected a conversation, a JSON list of messages such as "
                f'{{"role": "user", "content": "..."}}: {error}'
            ) from None

    def to_list(self) -> list[dict[str, str]]:
        """The messages, as templates and JSON files hold them."""
        return [{"role": role, "content": content} for role, content in self.messages]


def _message(given: object) -> tuple[str, str]:
    if not isinstance(given, Mapping):
        raise WrongTypeError(
            f"expected a message as a mapping, found {type(given).__name__}; "
            f"write {{'role': 'user', 'content': '...'}}"
        )
    if given.keys() != {"role", "content"}:
        raise SettingsError(
            f"expected a message with the fields role and content, found "
            f"{', '.join(map(str, given)) or 'none'}"
        )
    for value in given.values():
        require_unicode(value)
    return given["role"], given["content"]
