"""The ids of prompts of all kinds."""

import pytest

pytest.importorskip("jinja2", reason="jinja2 is not installed")

from tests.support.toy_models import ToyChatModel, ToyModel, ToyTokenizer
from ticore import Chat, Generator
from ticore.chat import conversation_ids, prompt_ids
from ticore.errors import PromptError, SettingsError, WrongTypeError

TOKENIZER = ToyTokenizer(["", "a", "b", "<", ">"])
CHAT = Chat.ask("ab", system="b")


def test_a_conversation_is_what_the_template_writes():
    model = ToyChatModel(TOKENIZER)
    assert conversation_ids(model, CHAT) == TOKENIZER.encode("<b><ab>")
    assert prompt_ids(model, CHAT) == prompt_ids(model, "<b><ab>")
    assert prompt_ids(model, (1, 2)) == [1, 2]


def test_a_model_without_a_template_takes_no_conversation():
    model = ToyChatModel(TOKENIZER)
    model.chat_template = None
    for without in (model, ToyModel(TOKENIZER)):
        with pytest.raises(PromptError, match="chat template"):
            prompt_ids(without, CHAT)


@pytest.mark.parametrize(
    ("prompt", "error"),
    [
        (b"a", WrongTypeError),
        ([1.5], WrongTypeError),
        (None, WrongTypeError),
        ([99], SettingsError),
    ],
)
def test_what_is_no_prompt_is_refused(prompt, error):
    with pytest.raises(error):
        prompt_ids(ToyModel(TOKENIZER), prompt)


def test_a_reply_is_written_after_a_conversation():
    model = ToyChatModel(TOKENIZER, seed=3)
    reply = Generator(model, seed=1).generate(CHAT, max_new_tokens=9)
    assert len(reply.ids) == 9
    assert reply.ids == Generator(model, seed=1).generate("<b><ab>", max_new_tokens=9).ids
