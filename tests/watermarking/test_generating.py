"""Texts that survive being read back, from a real model and from toys."""

import random

import pytest

import ticore
from tests.models import ToyModel, ToyTokenizer
from ticore.consistency import Verification
from ticore.errors import PromptError, SettingsError
from ticore.schemes import Gumbel
from ticore.watermarking import Generator, greedy, marked

TOYS = ["a", "b", "c", "ab", "bc", "abc", "ca", "<end>"]


@pytest.fixture(scope="module")
def model():
    return ticore.load_model("tiny-en", dtype="float32")


def toy(**settings):
    tokenizer = ToyTokenizer(TOYS, special={7})
    return ToyModel(tokenizer, eos_ids={7}, **settings)


@pytest.mark.parametrize("view", ["continuation", "whole"])
@pytest.mark.parametrize("observation", [0, 2, 10])
def test_a_text_is_read_back_as_its_tokens(model, view, observation):
    written = Generator(model, observation=observation, view=view, seed=3).generate(
        "The weather in spring", 60
    )
    tokenizer = model.tokenizer
    prompt = tokenizer.encode("The weather in spring")
    assert written.consistent
    assert len(written.ids) == 60 or written.end == "end of text"
    assert written.whole == tokenizer.decode([*prompt, *written.ids])
    if view == "whole":
        assert tokenizer.encode(written.whole) == [*prompt, *written.ids]
        assert written.whole == "The weather in spring" + written.text
    else:
        assert tokenizer.encode(written.text) == list(written.ids)


def test_without_rollback_it_is_not_always(model):
    found = [
        Generator(model, observation=None, seed=seed).generate("It was late when", 100)
        for seed in range(6)
    ]
    assert not all(text.consistent for text in found)
    for text in found:
        assert text.rollbacks == text.temporary == 0
        assert text.consistent == (model.tokenizer.encode(text.text) == list(text.ids))


def test_pieces_make_up_the_text():
    for model in (toy(), ticore.load_model("tiny-en")):
        for seed in range(5):
            writing = Generator(model, seed=seed, observation=3).start("ab", 25)
            pieces = list(writing)
            assert "".join(pieces) == writing.result().text
    assert writing.result().end in ("length", "end of text")


def test_a_character_of_several_tokens_is_shown_when_it_is_complete(model):
    plan = model.tokenizer.encode("Well \U0001f642\U0001f642")
    assert len(plan) > 8  # its bytes
    chosen = iter(plan)
    writing = Generator(model, lambda ids, logits: next(chosen), observation=9).start("", len(plan))
    pieces = list(writing)
    assert "".join(pieces) == writing.result().text == "Well \U0001f642\U0001f642"
    assert all("\ufffd" not in piece for piece in pieces)


def test_why_a_text_ends():
    assert Generator(toy(), greedy, end_of_text=False).generate("a", 9).end == "length"
    ends = {Generator(toy(), seed=seed).generate("a", 50).end for seed in range(20)}
    assert "end of text" in ends
    full = Generator(toy(context=12), end_of_text=False, seed=1).generate("a", 50)
    assert (full.end, len(full.ids)) == ("context", 11)
    nothing = ToyModel(ToyTokenizer(["a", "aa"]))
    assert Generator(nothing, greedy, observation=0, view="whole").generate("a", 9).end == (
        "dead end"
    )


def test_special_ids_and_padding_are_never_written():
    tokenizer = ToyTokenizer(["<unk>", *TOYS], special={0, 8})
    model = ToyModel(tokenizer, width=14, eos_ids={8}, sharpness=0.0)
    for seed in range(10):
        for end_of_text in (False, True):
            for observation in (None, 2):
                written = Generator(
                    model, seed=seed, end_of_text=end_of_text, observation=observation
                ).generate("ab", 30)
                assert set(written.ids) <= set(range(1, 8))
                assert end_of_text or written.end == "length"


def test_a_seed_gives_the_same_text_again(model):
    one, two, other = (
        Generator(model, seed=seed).generate("It was late when", 20).ids for seed in (1, 1, 2)
    )
    assert one == two != other


def test_consistent_generate_takes_any_sampler():
    draw = random.Random(0)

    def least_likely(ids, logits):
        return int(min((value, draw.random(), n) for n, value in enumerate(logits)
                       if value > -float("inf"))[2])  # fmt: skip

    model = toy(seed=4)
    for sampler in (None, greedy, least_likely):
        written = ticore.consistent_generate(
            model, "ab", sampler, tokens=30, observation=4, view="whole", end_of_text=False
        )
        assert model.tokenizer.encode(written.whole) == [
            *model.tokenizer.encode("ab"), *written.ids
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("prompt", "tokens", "settings", "error", "part"),
    [
        ("a", -1, {}, SettingsError, "tokens: expected 0 or more, found -1"),
        ("a", 5, {"observation": -1}, SettingsError, "observation: expected 0 or more tokens"),
        ("a" * 12, 5, {}, PromptError, "expected a prompt of fewer than 12 tokens"),
        ([0, 1], 5, {"view": "whole"}, PromptError, "expected a prompt that its tokenizer reads"),
    ],
)
def test_bad_input(prompt, tokens, settings, error, part):
    with pytest.raises(error, match=part):
        Generator(toy(context=12), **settings).generate(prompt, tokens)


def test_nothing_asked_nothing_written():
    written = Generator(toy()).generate("ab", 0)
    assert (written.text, written.ids, written.end, written.forwards) == ("", (), "length", 0)


@pytest.mark.parametrize("observation", [2, 10])
def test_to_give_up_early_changes_no_text(model, observation, monkeypatch):
    """What no continuation can mend is dropped at once; whoever waits longer drops it as well."""

    def write():
        found = []
        for n in range(4):
            scheme = Gumbel(bytes([n] * 16), model.tokenizer.vocab_size)
            generator = Generator(
                model, marked(scheme, random.Random(1)), observation=observation, end_of_text=False
            )
            found.append(generator.generate("The weather in spring was what", 100))
        return found

    early = write()
    monkeypatch.setattr(Verification, "lost", False)
    late = write()
    assert [text.ids for text in early] == [text.ids for text in late]
    assert sum(text.rollbacks for text in early) == sum(text.rollbacks for text in late) > 0
    assert sum(text.forwards for text in early) < sum(text.forwards for text in late)
