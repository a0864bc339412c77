"""Messages in replies: the conversation shapes the text and is never sent."""

import math
import pickle

import numpy as np
import pytest

pytest.importorskip("jinja2", reason="jinja2 is not installed")

from tests.support.toy_models import ToyChatModel, ToyTokenizer
from ticore import Agreement, Chat, Steganographer
from ticore.candidates import Candidates, PoolSettings
from ticore.errors import AgreementError, ExtractionError, PromptError, SettingsError
from ticore.steganography import _ending as ending

KEY = bytes(range(32))
TOKENIZER = ToyTokenizer(["", "a", "b", "ab", "<", ">", " ", ".", "c"])
END = 8
MODEL = ToyChatModel(TOKENIZER, seed=5)
CHAT = Chat.ask("ab", system="b")


def entropy(seed):
    return np.random.default_rng(seed).bytes


def stego(prompt=CHAT, model=MODEL, **settings):
    return Steganographer(model, key=KEY, prompt=prompt, entropy=entropy(1), **settings)


@pytest.mark.parametrize("codec", ["arithmetic", "discop"])
def test_a_message_is_read_from_a_reply(codec):
    written = stego(codec=codec).embed(b"hi")
    assert stego(codec=codec).extract(written.text) == b"hi"
    assert written.text == TOKENIZER.decode(written.ids)
    with pytest.raises(ExtractionError):
        stego(Chat.ask("a"), codec=codec).extract(written.text)


def test_a_conversation_is_agreed_on_by_its_ids(tmp_path):
    writer = stego()
    ids = tuple(TOKENIZER.encode("<b><ab>"))
    assert (writer.agreement.prompt, writer.agreement.prompt_ids) == ("", ids)
    assert writer.agreement.view == "continuation"
    assert writer.agreement.digest() == stego(list(ids)).agreement.digest()
    assert writer.agreement.digest() != stego("", view="continuation").agreement.digest()

    writer.agreement.save(tmp_path / "agreement.json")
    read = Agreement.load(tmp_path / "agreement.json")
    assert read == writer.agreement
    reader = Steganographer.from_agreement(read, model=MODEL, key=KEY)
    assert reader.extract(writer.embed(b"hi").text) == b"hi"
    assert pickle.loads(pickle.dumps(reader)).agreement == read


def test_an_agreement_on_a_text_says_nothing_of_ids():
    assert "prompt_ids" not in stego("ab").agreement.to_dict()


@pytest.mark.parametrize("ids", ["ab", [1, -1], [1.5], [True], {"a": 1}])
def test_an_agreement_holds_ids_alone(ids):
    values = stego().agreement.to_dict() | {"prompt_ids": ids}
    with pytest.raises(AgreementError, match="prompt_ids"):
        Agreement.from_dict(values)


def test_a_prompt_of_ids_is_never_part_of_the_text():
    with pytest.raises(SettingsError, match="continuation"):
        stego([1, 2], view="whole")
    with pytest.raises(AgreementError, match="no text beside prompt_ids"):
        Agreement.from_dict(stego().agreement.to_dict() | {"prompt": "a"})


def test_ids_without_a_logit_or_room_are_refused():
    with pytest.raises(SettingsError, match="from 0 to 8"):
        stego([9])
    with pytest.raises(PromptError, match="fewer than 4096"):
        stego([1] * 5000)


def test_another_prompt_keeps_the_view_of_its_kind():
    text, chat = stego("ab", view="continuation"), stego()
    assert text.with_prompt("a").agreement.view == "continuation"
    assert stego("ab").with_prompt(CHAT).agreement == chat.agreement
    assert chat.with_prompt("ab").agreement == stego("ab").agreement
    assert chat.with_prompt([1]).agreement == stego([1]).agreement


def test_batches_take_prompts_of_every_kind():
    model = PortableChatModel(TOKENIZER, seed=5)
    prompts = [CHAT, "ab", [1, 2], CHAT]
    messages = [b"a", b"b", b"c", b"d"]
    both = stego("b", model, numerics="portable")
    texts = both.embed_batch(messages, prompts=prompts)
    assert both.extract_batch(texts, prompts=prompts) == messages
    alone = [
        both.with_prompt(prompt).extract(text) for prompt, text in zip(prompts, texts, strict=True)
    ]
    assert alone == messages


class PortableChatModel(ToyChatModel):
    def portable_digest(self):
        return "a" * 64


class EndingModel(ToyChatModel):
    """The same, with a token that ends texts, whose logit is given."""

    logit_of_end = 0.0

    def logits_after(self, ids):
        logits = super().logits_after(ids)
        logits[END] = self.logit_of_end
        return logits


@pytest.mark.parametrize("top_k", [None, 3])
@pytest.mark.parametrize("temperature", [0.7, 1.0])
@pytest.mark.parametrize("logit", [-math.inf, -3.0, 0.5, 4.0])
def test_chance_of_end_is_that_of_sampling_from_pool_and_end(top_k, temperature, logit):
    model = EndingModel(TOKENIZER, eos_ids=[END])
    model.logit_of_end = logit
    candidates = Candidates(model, PoolSettings(temperature=temperature, top_k=top_k))
    for last in range(1, 7):
        logits = model.logits_after([last])
        pool = candidates.pool(logits)
        scaled = logits / temperature
        is_in = scaled[END] >= scaled[pool.ids].min() - 1e-3
        weights = np.exp(scaled[[END, *pool.ids]])
        expected = weights[0] / weights.sum() if is_in else 0.0
        assert candidates.chance_of_end(logits, pool) == pytest.approx(expected, rel=1e-2)


@pytest.mark.parametrize(("logit", "most"), [(-math.inf, 400), (50.0, 1)])
def test_a_reply_ends_where_the_model_ends_it(logit, most):
    """But not with a token of the message: text that is appended later may merge with it."""
    model = EndingModel(TOKENIZER, seed=5, eos_ids=[END])
    model.logit_of_end = logit
    written = stego(model=model).embed(b"hi")
    after = len(written.ids) - written.token_count
    assert 0 < after <= most
    # Without an end, the text goes on as long as is waited for, and then ends with a sentence.
    assert (after > ending.FINISH_TOKENS) == (most > 1)
    assert stego(model=model).extract(written.text) == b"hi"


@pytest.mark.parametrize("after", ["\n", "\n\n-- \nac\n"])
def test_what_is_appended_to_a_reply_does_no_harm(after):
    """Where the tokenizer merges line ends with what stands before them, and a reply may end."""
    pieces = [*TOKENIZER.pieces[:8], "", "-", "c", "\n", "\n\n", ".\n", "a\n", "ab\n", " \n"]
    model = EndingModel(ToyTokenizer(pieces), seed=5, eos_ids=[END])
    model.logit_of_end = 50.0
    for number in range(30):
        written = stego(model=model).embed(bytes([number]))
        assert stego(model=model).extract(written.text + after) == bytes([number])


def test_what_follows_the_message_may_be_chosen():
    model = EndingModel(TOKENIZER, seed=5, eos_ids=[END])
    model.logit_of_end = 50.0
    lengths = {
        finish: len(found.ids) - found.token_count
        for finish in ("sentence", "turn", "none", None)
        for found in [stego(model=model, finish=finish).embed(b"hi")]
    }
    assert lengths["none"] == 0
    assert lengths["turn"] == lengths[None] == 1
    assert lengths["sentence"] > 0
    text = stego("ab", model, finish=None).embed(b"hi")
    assert len(text.ids) > text.token_count
    with pytest.raises(SettingsError, match="finish"):
        stego(finish="page")
