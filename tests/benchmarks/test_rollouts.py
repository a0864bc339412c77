"""The benchmark of rollouts: what is written, and what it is read again as."""

import json
import re

import pytest

import ticore
from benchmarks.rollouts import __main__ as command
from benchmarks.rollouts import samples
from benchmarks.rollouts.conversations import KINDS, kept
from tests.support.tiny_models import tiny_model
from ticore.errors import SettingsError
from ticore.interfaces import ChatTemplate

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


class Chatting:
    """A model that ends its turns at its end of text, which ChatML's names stand for."""

    chat_template = ChatTemplate(CHATML)

    def __init__(self, model):
        self._model = model

    def __getattr__(self, name):
        return getattr(self._model, name)

    def encode_conversation(self, text):
        [end] = self._model.eos_ids
        ids = []
        for part in re.split(r"(<\|im_(?:start|end)\|>)", text):
            ids += [end] if part.startswith("<|im_") else self._model.tokenizer.encode(part)
        return ids


@pytest.fixture
def _chatting(monkeypatch):
    model = Chatting(tiny_model())
    monkeypatch.setattr(samples.Plan, "open_model", lambda plan: model)
    for module in (samples, command):
        monkeypatch.setattr(module, "GROUP", 2)
        monkeypatch.setattr(module, "PROMPTS", 1)
    monkeypatch.setattr(command, "code_digest", lambda *_: "code")


class OtherEnds(Chatting):
    """A model with other ends of texts and of turns."""

    def __init__(self, ends, end_of_turn):
        super().__init__(tiny_model())
        self.eos_ids, self._end = frozenset(ends), end_of_turn

    def encode_conversation(self, text):
        return self._end


def sampler(monkeypatch, model):
    monkeypatch.setattr(samples.Plan, "open_model", lambda plan: model)
    return samples.Sampler(samples.Plan(), ["Why?"])


def test_a_turn_ends_with_chatmls_own_token_whichever_others_end_a_text(monkeypatch):
    assert sampler(monkeypatch, OtherEnds([5, 9], [9]))._end == 9


@pytest.mark.parametrize("end_of_turn", [[7], [9, 9]])
def test_a_model_whose_turns_end_in_another_way_is_refused(monkeypatch, end_of_turn):
    with pytest.raises(SettingsError, match=r"expected a model that ends its turns with .* found"):
        sampler(monkeypatch, OtherEnds([5, 9], end_of_turn))


@pytest.mark.slow
@pytest.mark.usefixtures("_chatting")
def test_rollouts_are_written_stored_and_compared(run, tmp_path):
    out, rows = tmp_path / "samples.jsonl", tmp_path / "rows.jsonl"
    arguments = ("--rollouts", 10, "--tokens", 12, "--out", out, "--write", rows)
    found = run(command.main, *arguments)
    assert found.status == 0
    report = found.report["rollouts"]
    assert [row["kind"] for row in report] == [kind for kind in KINDS for _ in range(2)]
    assert all(row["rollouts"] == 2 for row in report)
    written = [json.loads(line) for line in rows.read_text().splitlines()]
    assert len(written) == 10
    tokenizer = ticore.load_tokenizer("tiny-en")
    for kind in KINDS:
        of_kind = [one for one in written if one["kind"] == kind]
        own = [ticore.compare(tokenizer, one["ids"], specials="gaps") for one in of_kind]
        row = next(row for row in report if (row["kind"], row["read"]) == (kind, "text"))
        assert row["drifted"] == sum(one.cause is not None for one in own)
        turns = of_kind[0]["template"].count("<|im_start|>assistant")
        assert turns == (2 if KINDS[kind].then else 1)
    before = out.read_text()
    assert run(command.main, *arguments).report["rollouts"] == report
    assert out.read_text() == before  # nothing is written twice


@pytest.mark.usefixtures("_chatting")
def test_a_reply_begins_as_its_kind_says_and_has_at_most_so_many_tokens():
    taken = samples.make_worker(samples.Plan(tokens=5), ["a", "b"])("a tool call", 1)
    begins = KINDS["a tool call"].begins
    ids = ticore.load_tokenizer("tiny-en").encode(begins)
    for one in taken["rollouts"]:
        assert begins in one["template"]
        places = range(len(one["ids"]))
        begun = next(at for at in places if one["ids"][at : at + len(ids)] == ids)
        assert 0 < len(one["ids"]) - begun - len(ids) <= 5


def test_a_tool_call_is_kept_as_json_and_other_text_as_it_is():
    call = '<tool_call>[{"name": "f","arguments":{"a":1}}]</tool_call> so'
    assert kept(call) == '<tool_call>[{"name": "f", "arguments": {"a": 1}}]</tool_call> so'
    for text in ("plain", "<tool_call>[{</tool_call>", "<tool_call>[1"):
        assert kept(text) == text


def test_a_model_without_a_template_is_refused(run):
    found = run(command.main, "--model", "tiny-en", "--rollouts", 1)
    assert found.status == 1
    assert "expected a chat model" in found.messages
