"""Paraphrase by a local model: the prompt it gets, and the text of its answer."""

import random

import numpy as np
import pytest

from tests.support.toy_models import ToyTokenizer
from ticore import load_model
from ticore.errors import PromptError, SettingsError
from ticore.evaluation import Attack, LocalParaphrase
from ticore.evaluation.attacks._paraphrase import share_changed
from ticore.watermarking import LogitsWarper


class Scripted:
    """Answers with `answer` and then ends; `asked` is the last prompt."""

    END = 128

    def __init__(self, answer, context=2000):
        self.tokenizer = ToyTokenizer([*map(chr, range(128)), "<end>"])
        self.logit_width = self.tokenizer.vocab_size
        self.eos_ids = frozenset({self.END})
        self.context_length = context
        self._answer = [*self.tokenizer.encode(answer), self.END]
        self.asked = None

    def start(self, prompt_ids):
        self.asked = self.tokenizer.decode(prompt_ids)
        self.ids, self._begin = list(prompt_ids), len(prompt_ids)
        return self

    def logits(self):
        logits = np.zeros(self.logit_width)
        written = len(self.ids) - self._begin
        logits[self._answer[min(written, len(self._answer) - 1)]] = 50
        return logits

    def push(self, token):
        self.ids.append(token)

    def digest(self):
        return "0123456789abcdef"


def test_paraphrase_is_the_models_answer():
    model = Scripted(" The cat lay on a mat.\n")
    attack = LocalParaphrase(model)
    found = attack("The cat sat {here}.")
    assert found.text == "The cat lay on a mat."
    assert found.label == attack.name == "paraphrase by 0123456789ab"
    assert found.complete
    assert found.positions is None
    assert found.changed == 0.5
    assert model.asked.startswith("Rewrite the text below")
    assert model.asked.endswith(
        "nothing else.\n\nThe cat sat {here}.\n\nThe same in other words:\n"
    )
    assert isinstance(attack, Attack)


def test_prompt_is_a_template_or_a_function():
    model = Scripted("x")
    LocalParaphrase(model, prompt="<{text}>", name="toy")("a b")
    assert model.asked == "<a b>"
    attack = LocalParaphrase(
        model, prompt=lambda text: model.tokenizer.encode(text[::-1]), name="toy"
    )
    assert attack("a b").label == "paraphrase by toy"
    assert model.asked == "b a"


def test_answer_is_cut_when_it_does_not_end():
    found = LocalParaphrase(Scripted("x" * 500))("a b")
    assert (len(found.text), found.complete) == (2 * 3 + 64, False)
    found = LocalParaphrase(Scripted("x" * 500), max_new_tokens=5)("a b")
    assert (found.text, found.complete) == ("xxxxx", False)
    with pytest.raises(PromptError):
        LocalParaphrase(Scripted("x", context=100))("a b" * 40)


def test_empty_text_is_not_given_to_the_model():
    model = Scripted("x")
    for text in ("", " \n"):
        found = LocalParaphrase(model)(text)
        assert (found.text, found.changed) == (text, 0)
    assert model.asked is None
    assert LocalParaphrase(Scripted(""))("a b").text == ""


def test_paraphrase_is_sampled_from_a_real_model():
    model = load_model("tiny-en")
    found = [
        LocalParaphrase(
            model, warp=LogitsWarper(0.8, top_k=40), draw=random.Random(seed), max_new_tokens=12
        )("It was late in the evening when he came home.")
        for seed in (1, 1, 2)
    ]
    assert found[0] == found[1]
    assert found[0].text != found[2].text
    assert found[0].label == f"paraphrase by {model.digest()[:12]}"


@pytest.mark.parametrize(
    ("before", "after", "share"),
    [
        ("a b c d", "a b c d", 0),
        ("a b c d", "", 1),
        ("a b c d", "b a", 0.75),
        ("", "a", 0),
        ("猫がいる", "犬がいる", 0.25),
    ],
)
def test_share_changed_counts_words_that_are_not_in_order(before, after, share):
    assert share_changed(before, after) == share


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"prompt": "Rewrite:"}, r"prompt: expected \{text\} once, .* found it 0 times"),
        ({"prompt": "{text} {text}"}, "found it 2 times"),
        ({"warp": LogitsWarper()}, "expected both warp and draw"),
        ({"draw": random.Random(1)}, "expected both warp and draw"),
        ({"max_new_tokens": 0}, "max_new_tokens: expected an integer of at least 1"),
    ],
)
def test_local_paraphrase_refuses_settings_out_of_range(how, message):
    with pytest.raises(SettingsError, match=message):
        LocalParaphrase(Scripted("x"), **how)


def test_local_paraphrase_accepts_tokens_as_the_old_name_of_max_new_tokens():
    with pytest.warns(DeprecationWarning, match=r"tokens=\.\.\.\) is deprecated"):
        attack = LocalParaphrase(Scripted("x" * 500), tokens=5)
    new = LocalParaphrase(Scripted("x" * 500), max_new_tokens=5)
    assert attack("a b").text == new("a b").text != ""
