"""Messages that a template writes again, compared with the ids that were sampled."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jinja2", reason="jinja2 is not installed")
pytest.importorskip("tokenizers", reason="tokenizers is not installed")

import tokenizers

from tests.support.chat_templates import WITH_TOOLS, conversation
from tests.support.tokenizers import REAL
from ticore import Transcript
from ticore.chat import rendered_transcripts
from ticore.consistency import Comparison, compare, compare_batch
from ticore.consistency._drift import Drift
from ticore.consistency._drift_check import DriftCheck, Ids
from ticore.errors import PromptError, SettingsError
from ticore.interfaces import SpecialWritingTokenizer
from ticore.registry import wrap
from ticore.testing import assert_no_drift


@pytest.fixture(scope="module")
def qwen() -> SpecialWritingTokenizer:
    found = REAL["qwen2.5"]()
    assert isinstance(found, SpecialWritingTokenizer)
    return found


def transcript(*roles: str, **fields: object) -> Transcript:
    said = [role.split(":", 1) for role in roles]
    messages: list[dict[str, object]] = [{"role": who, "content": what} for who, what in said]
    messages[-1].update(fields)
    return Transcript(messages, WITH_TOOLS)


THOUGHT = "<think>\nhm\n</think>\n\n"
CALL = '<tool_call>\n{"name":"f","arguments":{"a":1}}\n</tool_call>'
TURN = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
CASES = {
    "nothing": (TURN + "Yes<|im_end|>", transcript("user:Hi", "assistant:Yes"), None),
    "the line end after the last turn": (
        TURN + "Yes<|im_end|>\n",
        transcript("user:Hi", "assistant:Yes"),
        None,
    ),
    "a prompt": (TURN, transcript("user:Hi"), None),
    "thinking, last": (
        TURN + THOUGHT + "Yes<|im_end|>",
        transcript("user:Hi", f"assistant:{THOUGHT}Yes"),
        None,
    ),
    "thinking, earlier": (
        f"{TURN}{THOUGHT}Yes<|im_end|>\n{TURN}No<|im_end|>",
        transcript("user:Hi", f"assistant:{THOUGHT}Yes", "user:Hi", "assistant:No"),
        "template",
    ),
    "a tool call": (
        f"{TURN}Ok\n{CALL}<|im_end|>",
        transcript(
            "user:Hi",
            "assistant:Ok",
            tool_calls=[{"function": {"name": "f", "arguments": {"a": 1}}}],
        ),
        "template",
    ),
    "no line end between turns": (
        f"{TURN}Yes<|im_end|>{TURN}No<|im_end|>",
        transcript("user:Hi", "assistant:Yes", "user:Hi", "assistant:No"),
        "template",
    ),
    "white space in the reply": (
        f"{TURN}Yes. \n<|im_end|>",
        transcript("user:Hi", "assistant:Yes."),
        "strip",
    ),
    "a rollout that was cut off": (
        f"{TURN}Yes",
        transcript("user:Hi", "assistant:Yes"),
        "special token",
    ),
    "another end token": (
        f"{TURN}Yes<|endoftext|>",
        transcript("user:Hi", "assistant:Yes"),
        "special token",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_published_cases_are_found_from_messages(name: str, qwen: SpecialWritingTokenizer) -> None:
    sampled, given, cause = CASES[name]
    found = compare(qwen, qwen.encode_with_specials(sampled), reread=given)
    assert (found.cause, found.consistent) == (cause, cause is None)


def test_the_end_of_a_tool_call_is_not_the_end_of_a_turn() -> None:
    """`<|call|>` was sampled, and the template writes `<|end|>` (gpt-oss)."""
    library = tokenizers.Tokenizer.from_str(REAL["gpt2"]()._library.to_str())
    library.add_special_tokens(["<|start|>", "<|message|>", "<|call|>", "<|end|>"])
    tokenizer = wrap(library)
    assert isinstance(tokenizer, SpecialWritingTokenizer)
    template = (
        "{% for m in messages %}<|start|>{{ m.role }}<|message|>{{ m.content }}<|end|>{% endfor %}"
    )
    given = Transcript([{"role": "assistant", "content": '{"city":"Paris"}'}], template)
    head = '<|start|>assistant<|message|>{"city":"Paris"}'
    sampled = tokenizer.encode_with_specials(f"{head}<|call|>")
    found = compare(tokenizer, sampled, reread=given)
    assert (found.cause, found.first.at) == ("special token", len(sampled) - 1)
    assert (found.first.text, found.first.text_again) == ("<|call|>", "<|end|>")
    assert compare(
        tokenizer, tokenizer.encode_with_specials(f"{head}<|end|>"), reread=given
    ).consistent


def test_batches_give_the_same_answers(qwen: SpecialWritingTokenizer) -> None:
    lists = [qwen.encode_with_specials(sampled) for sampled, _, _ in CASES.values()]
    given = [one for _, one, _ in CASES.values()]
    expected = [compare(qwen, ids, reread=one) for ids, one in zip(lists, given, strict=True)]
    assert compare_batch(qwen, lists, rereads=given) == expected
    found = DriftCheck(qwen).compare([*map(_array, lists)], given)
    assert found == [None if one.consistent else Drift.of(one) for one in expected]


def test_a_conversation_that_was_sampled_as_it_is_written_has_no_drift(
    qwen: SpecialWritingTokenizer,
) -> None:
    given = Transcript(conversation()[3:], WITH_TOOLS)
    (text,) = rendered_transcripts([given])
    assert isinstance(text, str)
    assert_no_drift(qwen, qwen.encode_with_specials(text), reread=given)
    assert_no_drift(qwen, qwen.encode_with_specials(text.rstrip("\n")), reread=given)
    other = qwen.encode_with_specials(text.replace("Thanks", "Thank you"))
    with pytest.raises(AssertionError, match=r"cause +template"):
        assert_no_drift(qwen, other, reread=given)


def test_a_template_that_refuses_is_an_error_of_its_list(qwen: SpecialWritingTokenizer) -> None:
    wrong = Transcript([{"role": "user", "content": "Hi"}], "{{ raise_exception('no') }}")
    with pytest.raises(PromptError, match="no"):
        compare(qwen, [1], reread=wrong)
    right = Transcript([{"role": "user", "content": "Hi"}], "{{ messages[0].content }}")
    ids = qwen.encode("Hi")
    found = compare_batch(qwen, [ids, ids, [-1], ids], rereads=[wrong, right, right, None])
    assert [type(one) for one in found] == [PromptError, Comparison, SettingsError, Comparison]
    checked = DriftCheck(qwen).compare([*map(_array, [ids, ids, [-1]])], [wrong, right, right])
    assert [type(one) for one in checked] == [PromptError, type(None), SettingsError]


def _array(ids: list[int]) -> Ids:
    return np.array(ids, dtype=np.int64)
