"""The kinds of conversations, and what a program that keeps messages makes of them."""

from __future__ import annotations

import json
from dataclasses import dataclass

Message = dict[str, str]

_TOOL = {
    "name": "get_weather",
    "description": "The weather in a city",
    "parameters": {"city": {"type": "string"}, "days": {"type": "integer"}},
}
_WITH_TOOLS = (
    "You have access to these tools: "
    + json.dumps([_TOOL])
    + '. Answer with <tool_call>[{"name": "tool", "arguments": {}}]</tool_call>.'
)
_BEGIN, _END = "<tool_call>", "</tool_call>"


@dataclass(frozen=True)
class Kind:
    """A kind of conversation.

    Attributes:
        system: the system's message; "" for the template's own.
        ask: the user's first message; `{}` is a prompt.
        begins: how the first reply begins.
        then: the user's second message; "" where there is none.
        between: what the program that samples puts between the end of a reply and the next turn.
            The templates of ChatML have a line end there.
    """

    system: str = ""
    ask: str = "Go on with this text: {}"
    begins: str = ""
    then: str = ""
    between: str = "\n"

    def messages(self, prompt: str) -> list[Message]:
        """What is said before the first reply."""
        system = [{"role": "system", "content": self.system}] if self.system else []
        return [*system, {"role": "user", "content": self.ask.format(prompt)}]


KINDS = {
    "one reply": Kind(),
    "a list": Kind(ask="Write a list of five things, with a line for each, about this: {}"),
    "a tool call": Kind(
        system=_WITH_TOOLS,
        ask="{} What will the weather be like in Paris tomorrow?",
        begins='<tool_call>[{"name": "get_weather","arguments":{"city":"Paris',
    ),
    "two turns": Kind(then="Go on."),
    "two turns, a line end missing": Kind(then="Go on.", between=""),
}
"""By name."""


def kept(reply: str) -> str:
    """A reply as a program keeps it: a tool call that can be parsed is written again as JSON."""
    before, begin, rest = reply.partition(_BEGIN)
    inside, end, after = rest.partition(_END)
    try:
        call = json.loads(inside)
    except ValueError:
        return reply
    return f"{before}{begin}{json.dumps(call)}{end}{after}"
