"""A model's template, rendered in a process whose time and memory are bounded.

A template comes with a model's files, and is a program. The sandbox of jinja2 keeps it from reading
attributes, but not from looping for ever or from filling the memory.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from .._support.installing import how_to_install, missing_extra
from ..errors import MissingExtraError, PromptError, shown
from ..interfaces import ChatTemplate
from ._chat import Chat
from ._transcript import Transcript

SECONDS = 10
MEMORY = 1 << 30  # bytes
# As Hugging Face gives them: templates compare them with none, and do not ask whether they exist.
_ABSENT = {"tools": None, "documents": None}
_PROGRAM = Path(__file__).with_name("_template_process.py")


def rendered(
    template: ChatTemplate, chat: Chat, *, seconds: int = SECONDS, memory: int = MEMORY
) -> str:
    """The text of a conversation, up to where the model's reply begins.

    Args:
        template: the model's.
        chat: the conversation.
        seconds: how long it may take.
        memory: how many bytes it may take, where the system can limit them.

    Raises:
        PromptError: the template is not one, refuses the conversation, or does what it must not.
        MissingExtraError: the package jinja2 is not installed.
    """
    variables = {"messages": chat.to_list(), "add_generation_prompt": True}
    (found,) = _rendered_each(template, [variables], seconds, memory)
    if isinstance(found, PromptError):
        raise found
    return found


def rendered_transcripts(
    transcripts: Sequence[Transcript], *, seconds: int = SECONDS, memory: int = MEMORY
) -> list[str | PromptError]:
    """The text of each transcript as its template writes it. One process serves one template.

    Args:
        transcripts: what was said.
        seconds: how long each may take.
        memory: how many bytes may be taken, where the system can limit them.

    Returns:
        For each transcript its text, or why the template does not write it.

    Raises:
        MissingExtraError: the package jinja2 is not installed.
    """
    found = list[str | PromptError]()
    for template, group in groupby(transcripts, attrgetter("template")):
        variables = [transcript.variables() for transcript in group]
        found += _rendered_each(template, variables, seconds, memory)
    return found


def require_renderer() -> None:
    """Raises MissingExtraError: the package jinja2 is not installed."""
    if find_spec("jinja2") is None:
        raise missing_extra("jinja2", "chat", "a conversation")


def _rendered_each(
    template: ChatTemplate, each: Sequence[Mapping[str, Any]], seconds: int, memory: int
) -> list[str | PromptError]:
    """What the template writes for each set of variables."""
    require_renderer()
    found: list[str | PromptError] = []
    while len(found) < len(each):
        answers = _run(template, each[len(found) :], seconds, memory)
        found += [
            str(answer["text"]) if "text" in answer else _refused(answer["problem"])
            for answer in answers
        ]
    return found


def _run(
    template: ChatTemplate, each: Sequence[Mapping[str, Any]], seconds: int, memory: int
) -> list[dict[str, str]]:
    """The answers of one process, at least one: where it was ended, the last says why."""
    request = {
        "template": template.source,
        "common": {**_ABSENT, **template.special_tokens, **template.settings},
        "each": list(each),
        "seconds": seconds,
        "memory": memory,
    }
    command = [sys.executable, "-I", str(_PROGRAM), *_folders_of_jinja2()]
    try:
        done = subprocess.run(
            command, input=json.dumps(request).encode(), capture_output=True, check=False
        )
    except OSError as error:
        return [{"problem": f"its process does not start: {error.strerror}"}]
    *whole, _ = done.stdout.split(b"\n")  # the process may be ended inside a line
    answers = [json.loads(line) for line in whole]
    if len(answers) < len(each):
        _require_imported(done.stderr)
        # The process was ended: of its limits, that of time ends it without an answer.
        answers.append(
            {"problem": f"it did not end within {seconds} seconds and {memory >> 20} MB"}
        )
    return answers


def _folders_of_jinja2() -> list[str]:
    """Where this process finds jinja2 and what it needs; an isolated one looks in fewer places."""
    found = map(find_spec, ("jinja2", "markupsafe"))
    return [str(Path(spec.origin).parents[1]) for spec in found if spec and spec.origin]


def _require_imported(said: bytes) -> None:
    """Raises MissingExtraError: the process says that it ended since it cannot import jinja2."""
    last = said.decode(errors="replace").strip().rpartition("\n")[2]
    if last.startswith(("ImportError", "ModuleNotFoundError")):
        raise MissingExtraError(
            f"expected a process that can import 'jinja2', found {last.strip()}; "
            f"{how_to_install('chat')}"
        )


def _refused(problem: str) -> PromptError:
    return PromptError(
        f"the model's chat template does not write this conversation: {shown(problem)}; "
        f"change the conversation, or give its text instead"
    )
