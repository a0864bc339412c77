"""What a model goes on with, as options: a text, a file, or a conversation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ..chat import Chat
from . import streams
from .options import MODEL, file_option, option
from .usage import UsageError

PromptText = Annotated[
    str | None, option("TEXT", "What the model continues.", panel=MODEL, default="empty")
]
_PROMPT_FILE = "The prompt in a file, as it is, with any line break at its end"
_CHAT_FILE = (
    "A conversation to reply to, for a chat model: a JSON list of messages such as "
    '{"role": "user", "content": "Hi"}'
)
_OR_INPUT = "; - is standard input."
PromptFile = Annotated[Path | None, file_option(f"{_PROMPT_FILE}.", panel=MODEL)]
PromptFileOrInput = Annotated[Path | None, file_option(_PROMPT_FILE + _OR_INPUT, panel=MODEL)]
ChatFile = Annotated[Path | None, file_option(f"{_CHAT_FILE}.", "--chat", panel=MODEL)]
ChatFileOrInput = Annotated[Path | None, file_option(_CHAT_FILE + _OR_INPUT, "--chat", panel=MODEL)]
UserMessage = Annotated[
    str | None,
    option("TEXT", "A user's message to reply to, for a chat model.", "--user", panel=MODEL),
]
SystemMessage = Annotated[
    str | None,
    option("TEXT", "What the model is told before that message.", "--system", panel=MODEL),
]


def read_prompt(
    prompt: str | None,
    prompt_file: Path | None,
    chat: Path | None = None,
    user: str | None = None,
    system: str | None = None,
) -> str | Chat:
    """The prompt, as it was given; the empty text if it was not.

    Raises:
        UsageError: two prompts were given, or a system message without a user's.
        FileError: a file cannot be read, or does not hold a conversation.
    """
    named = {"--prompt": prompt, "--prompt-file": prompt_file, "--chat": chat, "--user": user}
    given = [name for name, value in named.items() if value is not None]
    if len(given) > 1:
        raise UsageError(f"give {' or '.join(given)}, not both")
    if system is not None and user is None:
        raise UsageError("--system: expected --user TEXT as well, found none")
    if user is not None:
        return Chat.ask(user, system=system)
    if chat is not None:
        return Chat.loads(_content(chat, "the conversation"), str(chat))
    if prompt_file is not None:
        return streams.decode_text(_content(prompt_file, "the prompt"), str(prompt_file))
    return prompt or ""


def _content(path: Path, what: str) -> bytes:
    return streams.read_argument(path, what)[0]
