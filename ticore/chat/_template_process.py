"""Renders one chat template: a program of its own, so that its time and memory can be bounded.

It reads a request as JSON from standard input and writes {"text": ...} or {"problem": ...}. It
imports nothing of ticore, so that it starts fast. A template gets what Hugging Face's templates
expect, without the date: two sides must render the same prompt on two days.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from jinja2 import TemplateError, nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment


class _GenerationBlocks(Extension):
    """`{% generation %}`, which marks replies for training. It changes no text."""

    tags = {"generation"}  # noqa: RUF012  # as jinja2 declares it

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """The statements inside the block."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _raise_exception(message: str) -> None:
    raise TemplateError(message)


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )


def render(request: dict[str, Any]) -> str:
    """The text of the request's `messages`, as its `template` writes them.

    Raises:
        TemplateError: the template is not one, refuses the messages, or does what it must not.
    """
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_GenerationBlocks, loopcontrols]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _raise_exception
    template = environment.from_string(request["template"])
    return template.render(
        messages=request["messages"], add_generation_prompt=True, **request["special_tokens"]
    )


def _limit(memory: int, seconds: int) -> None:
    """Let this process use at most `memory` bytes, and `seconds` of a processor."""
    try:
        import resource  # noqa: PLC0415  # absent on Windows
    except ImportError:
        return
    for kind, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds)):
        _, hard = resource.getrlimit(kind)
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (limit, hard))


def main() -> None:
    request = json.load(sys.stdin)
    _limit(request["memory"], request["seconds"])
    try:
        text = render(request)
        text.encode()
        answer = {"text": text}
    except MemoryError:
        answer = {"problem": "it takes too much memory"}
    except RecursionError:
        answer = {"problem": "it calls itself without end"}
    except Exception as error:  # whatever a template brings about is a problem of the template
        said = " ".join(str(error).split())
        answer = {"problem": f"{type(error).__name__}: {said}"}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
