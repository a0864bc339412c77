"""Renders one chat template: a program of its own, so that its time and memory can be bounded.

It reads a request as JSON from standard input and writes a line for each conversation in it,
{"text": ...} or {"problem": ...}. Its arguments are folders to import from. It imports nothing of
ticore, so that it starts fast. A template gets what Hugging Face's templates expect, without the
date: two sides must render the same prompt on two days.
"""

from __future__ import annotations

import faulthandler
import json
import math
import sys
import time
from typing import Any

if __name__ == "__main__":
    sys.path += sys.argv[1:]

from jinja2 import Template, TemplateError, nodes
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


def parse(source: str) -> Template:
    """The template. Raises TemplateError: it is not one."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_GenerationBlocks, loopcontrols]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _raise_exception
    return environment.from_string(source)


def _limit(kind: str, most: int) -> None:
    """Let this process use at most `most` of a resource, such as RLIMIT_AS, where that works."""
    try:
        import resource  # noqa: PLC0415  # absent on Windows
    except ImportError:
        return
    number = getattr(resource, kind)
    _, hard = resource.getrlimit(number)
    limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(number, (limit, hard))


def _limit_time(seconds: int) -> None:
    """End this process if it is still at the same conversation after `seconds`.

    They are seconds of a processor, and twice as many of the clock for systems without that limit.
    """
    faulthandler.dump_traceback_later(2 * seconds, exit=True)
    _limit("RLIMIT_CPU", math.ceil(time.process_time()) + seconds)


def _answer(source: str, variables: dict[str, Any], parsed: list[Template]) -> dict[str, str]:
    """The text of one conversation, or why there is none; `parsed` keeps the template."""
    try:
        if not parsed:
            parsed.append(parse(source))
        text = parsed[0].render(variables)
        text.encode()
    except MemoryError:
        return {"problem": "it takes too much memory"}
    except RecursionError:
        return {"problem": "it calls itself without end"}
    except Exception as error:  # whatever a template brings about is a problem of the template
        said = " ".join(str(error).split())
        return {"problem": f"{type(error).__name__}: {said}"}
    return {"text": text}


def main() -> None:
    request = json.load(sys.stdin)
    _limit("RLIMIT_AS", request["memory"])
    parsed: list[Template] = []
    for variables in request["each"]:
        _limit_time(request["seconds"])
        answer = _answer(request["template"], {**request["common"], **variables}, parsed)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
