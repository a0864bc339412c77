"""Templates: they write what Hugging Face writes, and none can do harm."""

from __future__ import annotations

import os
import sys
import venv
from pathlib import Path

import pytest

pytest.importorskip("jinja2", reason="jinja2 is not installed")

from ticore.chat import Chat, _rendering
from ticore.errors import MissingExtraError, PromptError
from ticore.interfaces import ChatTemplate

CHATML = """{%- for message in messages %}
    {%- if loop.first and message['role'] != 'system' %}
        {{- '<|im_start|>system\\nYou help.<|im_end|>\\n' }}
    {%- endif %}
    {{- '<|im_start|>' + message['role'] + '\\n' + message.content | trim + '<|im_end|>' + '\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""
ALTERNATING = """{{ bos_token }}{% for message in messages %}
{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
{{ raise_exception('roles must alternate') }}
{% endif %}
{% if message.role == 'user' %}[INST] {{ message.content }} [/INST]{% else %}
{% generation %}{{ message.content }}{{ eos_token }}{% endgeneration %}{% endif %}
{% endfor %}
"""
DATED = """{% set seen = namespace(count=0) %}
{% if strftime_now is defined %}{{ strftime_now('%Y') }}{% else %}no date{% endif %}
{% for m in messages %}{% set seen.count = seen.count + 1 %}
{% if m.role == 'tool' %}{% continue %}{% endif %}
{{ seen.count }} {{ m | tojson }}
{% endfor %}"""
WITH_TOOLS = """{% if tools is not none %}tools: {{ tools | length }}{% endif %}
{% if documents is not none %}documents{% endif %}
{% for m in messages %}{{ m.content }}{% endfor %}"""
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
CHATS = [
    Chat.ask("Hi, <b>'you'</b>"),
    Chat.ask("x\n", system=" é☃ "),
    Chat(
        [
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "b"},
            {"role": "user", "content": "c"},
        ]
    ),
]


@pytest.mark.parametrize("source", [CHATML, ALTERNATING, DATED, WITH_TOOLS])
def test_templates_write_what_transformers_writes(source: str) -> None:
    pytest.importorskip("transformers", reason="transformers is not installed")
    from transformers.utils.chat_template_utils import (  # noqa: PLC0415  # after the check
        render_jinja_template,
    )

    # There is no date: both sides must render the same on two days.
    theirs = source.replace("strftime_now is defined", "strftime_then is defined")
    for chat in CHATS:
        if source == ALTERNATING and chat.messages[0][0] == "system":
            continue
        (expected,), _ = render_jinja_template(
            conversations=[chat.to_list()],
            chat_template=theirs,
            add_generation_prompt=True,
            **TOKENS,
        )
        assert _rendering.rendered(ChatTemplate(source, TOKENS), chat) == expected


def test_template_has_no_tools_unless_its_settings_have_some() -> None:
    """It asks for them by `is not none`, as Hugging Face passes None."""
    assert _rendering.rendered(ChatTemplate(WITH_TOOLS), Chat.ask("Hi")) == "Hi"
    template = ChatTemplate(WITH_TOOLS, settings={"tools": [{}, {}]})
    assert _rendering.rendered(template, Chat.ask("Hi")) == "tools: 2Hi"


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("{{ raise_exception('no system') }}", "no system"),
        ("{% for %}", "TemplateSyntaxError"),
        ("{{ nothing.at.all }}", "UndefinedError"),
        ("{{ ''.__class__.__mro__ }}", "SecurityError"),
        ("{{ messages.append(1) }}", "SecurityError"),
        ("{{ (messages | attr('__class__')).x }}", "Error"),
        ("{{ 1 / 0 }}", "ZeroDivisionError"),
        ("{% include 'x' %}", "TypeError"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "calls itself without end"),
        ("{{ range(10 ** 9) | list }}", "OverflowError"),
        ("{{ '\ud800' }}", "surrogate"),
    ],
)
def test_templates_that_fail_give_one_line(source: str, problem: str) -> None:
    with pytest.raises(PromptError, match=problem) as caught:
        _rendering.rendered(ChatTemplate(source), CHATS[0])
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{{ 'a' * 10 ** 12 }}",
        "{{ (10 ** 9) ** (10 ** 9) }}",
        "{% set n = namespace(t='a') %}{% for _ in range(99) %}{% set n.t = n.t * 2 %}{% endfor %}",
    ],
)
def test_templates_cannot_take_all_time_or_memory(source: str) -> None:
    with pytest.raises(PromptError, match=r"too much memory|did not end|more than 1 second"):
        _rendering.rendered(ChatTemplate(source), CHATS[0], seconds=1, memory=1 << 28)


def test_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_rendering, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match="jinja2"):
        _rendering.rendered(ChatTemplate(""), CHATS[0])


@pytest.fixture
def bare_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The template's process has no packages, as where they are in a folder of PYTHONPATH."""
    venv.create(tmp_path, symlinks=os.name != "nt")
    bare = tmp_path / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    monkeypatch.setattr(sys, "executable", str(bare))


@pytest.mark.usefixtures("bare_python")
def test_packages_may_be_where_only_this_process_looks() -> None:
    assert _rendering.rendered(ChatTemplate("a {{ messages[0].content }}"), CHATS[2]) == "a a"


@pytest.mark.usefixtures("bare_python")
def test_the_template_is_not_blamed_for_a_package_that_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_rendering, "_folders_of_jinja2", list)
    with pytest.raises(MissingExtraError, match=r"found .*No module named 'jinja2'"):
        _rendering.rendered(ChatTemplate(""), CHATS[0])


def test_a_process_that_does_not_start_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    with pytest.raises(PromptError, match="does not start: "):
        _rendering.rendered(ChatTemplate(""), CHATS[0])
