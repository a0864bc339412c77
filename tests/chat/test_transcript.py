"""Transcripts: written as transformers writes them, each by itself, and checked beforehand."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("jinja2", reason="jinja2 is not installed")

from tests.support.chat_templates import TOOLS, WITH_TOOLS, conversation
from ticore.chat import Transcript, rendered_transcripts
from ticore.errors import PromptError, SettingsError, WrongTypeError
from ticore.interfaces import ChatTemplate

USER = {"role": "user", "content": "Hi"}


def written(*transcripts: Transcript, **limits: int) -> list[str | PromptError]:
    return rendered_transcripts(transcripts, **limits)


@pytest.mark.parametrize("turns", range(1, 7))
@pytest.mark.parametrize("tools", [None, TOOLS])
def test_transcripts_are_written_as_transformers_writes_them(
    turns: int, tools: list[Any] | None
) -> None:
    pytest.importorskip("transformers", reason="transformers is not installed")
    from transformers.utils.chat_template_utils import (  # noqa: PLC0415  # after the check
        render_jinja_template,
    )

    messages = conversation()[:turns]
    (expected,), _ = render_jinja_template(
        conversations=[messages],
        tools=tools,
        chat_template=WITH_TOOLS,
        add_generation_prompt=messages[-1]["role"] != "assistant",
        eos_token="<|im_end|>",
        enable_thinking=False,
    )
    template = ChatTemplate(WITH_TOOLS, {"eos_token": "<|im_end|>"}, {"enable_thinking": False})
    assert written(Transcript(messages, template, tools)) == [expected]


def test_each_transcript_is_written_with_its_own_template() -> None:
    found = written(
        Transcript([USER], "{{ messages[0].content }}"),
        Transcript([USER], "{{ raise_exception('no ' + messages[0].content) }}"),
        Transcript([USER], ChatTemplate("{{ a }}{{ b }}", {"a": "1"}, {"b": [2]})),
        Transcript([USER, {"role": "assistant"}], "{{ add_generation_prompt }}{{ tools }}"),
        Transcript([USER], "{{ add_generation_prompt }}", tools=[]),
    )
    assert found[0] == "Hi"
    assert "no Hi" in str(found[1])
    assert found[2:] == ["1[2]", "FalseNone", "True"]
    assert written() == []


@pytest.mark.slow
def test_one_that_takes_too_long_does_not_take_the_others_with_it() -> None:
    endless = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    template = f"{{% if messages[0].content == 'stop' %}}{endless}{{% endif %}}done"
    said = ["a", "stop", "b", "c"]
    given = [Transcript([{"role": "user", "content": text}], template) for text in said]
    found = written(*given, seconds=1)
    assert [text for text in found if isinstance(text, str)] == ["done"] * 3
    assert "did not end within 1 seconds" in str(found[1])


@pytest.mark.parametrize(
    ("messages", "wrong", "part"),
    [
        ([], SettingsError, "at least one message"),
        ("Hi", WrongTypeError, "messages: expected a list, found str"),
        ([["user", "Hi"]], WrongTypeError, "as a mapping, found list"),
        ([{"content": "Hi"}], SettingsError, "with the field role, found content"),
        ([{"role": 1}], SettingsError, "with the field role"),
        ([{"role": "user", "content": b"Hi"}], SettingsError, "values that JSON can hold"),
    ],
)
def test_what_is_no_transcript_is_refused(messages: Any, wrong: type[Exception], part: str) -> None:
    with pytest.raises(wrong, match=part):
        Transcript(messages, "")


def test_wrong_templates_and_tools_are_refused() -> None:
    wrong: Any = {}
    with pytest.raises(WrongTypeError, match="expected a ChatTemplate or its source, found dict"):
        Transcript([USER], wrong)
    with pytest.raises(WrongTypeError, match="tools: expected a list, found dict"):
        Transcript([USER], "", tools=wrong)
    with pytest.raises(SettingsError, match="values that JSON can hold"):
        Transcript([USER], ChatTemplate("", settings={"a": object()}))
