"""A model's template, rendered in a process whose time and memory are bounded.

A template comes with a model's files, and is a program. The sandbox of jinja2 keeps it from reading
attributes, but not from looping for ever or from filling the memory.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from .._support.installing import how_to_install
from ..errors import MissingExtraError, PromptError, shown
from ..interfaces import ChatTemplate
from ._chat import Chat

SECONDS = 10
MEMORY = 1 << 30  # bytes
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
    if find_spec("jinja2") is None:
        raise MissingExtraError(
            f"conversations need the package 'jinja2', which is not installed; "
            f"{how_to_install('chat')}"
        )
    request = {
        "template": template.source,
        "special_tokens": dict(template.special_tokens),
        "messages": chat.to_list(),
        "seconds": seconds,
        "memory": memory,
    }
    try:
        done = subprocess.run(
            [sys.executable, "-I", str(_PROGRAM)],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            encoding="ascii",
            timeout=2 * seconds,  # for a system that cannot limit the processor's time
            check=False,
        )
        answer = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        answer = {"problem": f"it takes more than {seconds} seconds"}
    except (OSError, ValueError):
        # The system ended it: of these limits, that of time ends a process without an answer.
        answer = {"problem": f"it did not end within {seconds} seconds and {memory >> 20} MB"}
    if "text" in answer:
        return str(answer["text"])
    raise PromptError(
        f"the model's chat template does not write this conversation: {shown(answer['problem'])}; "
        f"change the conversation, or give a text prompt"
    )
