"""A chat template with tools and thinking, after those that Qwen's models come with."""

from __future__ import annotations

from typing import Any

WITH_TOOLS = """{%- if tools %}
    {{- '<|im_start|>system\\n# Tools\\n' }}
    {%- for tool in tools %}
        {{- '\\n' }}{{ tool | tojson }}
    {%- endfor %}
    {{- '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {{- '<|im_start|>' + message.role + '\\n' }}
    {%- set content = message.content if message.content is string else '' %}
    {%- if message.role == 'assistant' and '</think>' in content and not loop.last %}
        {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
    {%- endif %}
    {{- content }}
    {%- for call in message.tool_calls or [] %}
        {{- '\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' }}
        {{- call.function.arguments | tojson }}{{ '}\\n</tool_call>' }}
    {%- endfor %}
    {{- '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}
"""

TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
]


def conversation() -> list[dict[str, Any]]:
    """A conversation of six messages: thinking, a call of a tool, and a reply without either."""
    call = {"type": "function", "function": {"name": "weather", "arguments": {"city": "Kyōto"}}}
    return [
        {"role": "user", "content": "Is it cold in Kyōto?"},
        {
            "role": "assistant",
            "content": "<think>\nI ask.\n</think>\n\nWait.",
            "tool_calls": [call],
        },
        {"role": "tool", "content": '{"celsius": 3}'},
        {"role": "assistant", "content": "Yes, 3 °C."},
        {"role": "user", "content": "Thanks!"},
        {"role": "assistant", "content": "You are welcome. "},
    ]
