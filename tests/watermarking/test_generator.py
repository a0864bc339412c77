"""Texts that survive being read back, from a real model and from toys."""

import dataclasses
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ticore
from tests.support.tiny_models import tiny_model
from tests.support.toy_models import ToyBatchModel, ToyModel, ToyTokenizer
from ticore.consistency import Verification, compare
from ticore.errors import PromptError, SettingsError
from ticore.schemes import Gumbel
from ticore.steganography import Steganographer
from ticore.watermarking import (
    Generator,
    LogitsWarper,
    Watermarker,
    greedy,
    multinomial,
    watermarked_sampler,
)

TOYS = ["a", "b", "c", "ab", "bc", "abc", "ca", "<end>"]


@pytest.fixture(scope="module")
def model():
    return tiny_model()


def toy(kind=ToyModel, **settings):
    tokenizer = ToyTokenizer(TOYS, special={7})
    return kind(tokenizer, eos_ids={7}, **settings)


def all_but_seconds(written):
    return dataclasses.replace(written, seconds=0, seed=None)


@pytest.mark.slow
@pytest.mark.parametrize("view", ["continuation", "whole"])
@pytest.mark.parametrize("observation", [0, 2, 10])
def test_generate_writes_text_that_is_read_back_as_its_tokens(model, view, observation):
    written = Generator(model, observation=observation, view=view, seed=3).generate(
        "The weather in spring", max_new_tokens=60
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


@pytest.mark.slow
def test_generate_writes_inconsistent_texts_when_observation_is_none(model):
    found = [
        Generator(model, observation=None, seed=seed).generate(
            "It was late when", max_new_tokens=100
        )
        for seed in range(6)
    ]
    assert not all(text.consistent for text in found)
    for text in found:
        assert text.rollbacks == text.temporary == 0
        assert text.consistent == (model.tokenizer.encode(text.text) == list(text.ids))


def test_generated_end_says_why_a_text_ends():
    assert (
        Generator(toy(), greedy, end_of_text=False).generate("a", max_new_tokens=9).end == "length"
    )
    ends = {Generator(toy(), seed=seed).generate("a", max_new_tokens=50).end for seed in range(20)}
    assert "end of text" in ends
    full = Generator(toy(context=12), end_of_text=False, seed=1).generate("a", max_new_tokens=50)
    assert (full.end, len(full.ids)) == ("context", 11)
    just = Generator(toy(context=12), end_of_text=False, seed=1).generate("a", max_new_tokens=11)
    assert (just.end, len(just.ids)) == ("length", 11)
    nothing = ToyModel(ToyTokenizer(["a", "aa"]))
    assert Generator(nothing, greedy, observation=0, view="whole").generate(
        "a", max_new_tokens=9
    ).end == ("dead end")


def test_generate_never_writes_special_ids_or_padding():
    tokenizer = ToyTokenizer(["<unk>", *TOYS], special={0, 8})
    model = ToyModel(tokenizer, width=14, eos_ids={8}, sharpness=0.0)
    for seed in range(10):
        for end_of_text in (False, True):
            for observation in (None, 2):
                written = Generator(
                    model, seed=seed, end_of_text=end_of_text, observation=observation
                ).generate("ab", max_new_tokens=30)
                assert set(written.ids) <= set(range(1, 8))
                assert end_of_text or written.end == "length"


def test_generate_never_writes_an_end_of_text_that_has_a_text():
    """Where it may not end a text, neither does it become part of it."""
    model = ToyModel(ToyTokenizer(["a", "b", "<end>"]), eos_ids={2}, sharpness=0.0)
    for seed in range(5):
        written = Generator(model, end_of_text=False, seed=seed).generate("a", max_new_tokens=20)
        assert (len(written.ids), written.end) == (20, "length")
        assert 2 not in written.ids


def test_generate_writes_the_same_text_when_the_seed_is_the_same(model):
    one, two, other = (
        Generator(model, seed=seed).generate("It was late when", max_new_tokens=20).ids
        for seed in (1, 1, 2)
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
            model,
            "ab",
            sampler=sampler,
            max_new_tokens=30,
            observation=4,
            view="whole",
            end_of_text=False,
        )
        assert model.tokenizer.encode(written.whole) == [
            *model.tokenizer.encode("ab"), *written.ids
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("prompt", "tokens", "settings", "error", "part"),
    [
        ("a", -1, {}, SettingsError, "max_new_tokens: expected an integer of at least 0, found -1"),
        (
            "a",
            "3",
            {},
            SettingsError,
            "max_new_tokens: expected an integer of at least 0, found '3'",
        ),
        (
            "a",
            None,
            {},
            SettingsError,
            "max_new_tokens: expected an integer of at least 0, found N",
        ),
        (
            "a",
            1.5,
            {},
            SettingsError,
            "max_new_tokens: expected an integer of at least 0, found 1.5",
        ),
        ("a", True, {}, SettingsError, "max_new_tokens: expected an integer of at least 0"),
        (
            "a",
            5,
            {"observation": -1},
            SettingsError,
            "observation: expected an integer of at least 0",
        ),
        (
            "a",
            5,
            {"observation": "1"},
            SettingsError,
            "observation: expected an integer of at least 0",
        ),
        (
            "a",
            5,
            {"observation": 1.5},
            SettingsError,
            "observation: expected an integer of at least 0",
        ),
        ("a" * 12, 5, {}, PromptError, "expected a prompt of fewer than 12 tokens"),
        ([0, 1], 5, {"view": "whole"}, PromptError, "expected a prompt that its tokenizer reads"),
    ],
)
def test_generate_refuses_bad_input(prompt, tokens, settings, error, part):
    with pytest.raises(error, match=part):
        Generator(toy(context=12), **settings).generate(prompt, max_new_tokens=tokens)


def test_generate_takes_a_length_from_numpy():
    alike = (Generator(toy(), seed=1).generate("a", max_new_tokens=n) for n in (5, np.int64(5)))
    assert len({text.ids for text in alike}) == 1


def test_generate_writes_nothing_when_max_new_tokens_is_0():
    written = Generator(toy()).generate("ab", max_new_tokens=0)
    assert (written.text, written.ids, written.end, written.forwards) == ("", (), "length", 0)


@pytest.mark.slow
@pytest.mark.parametrize("observation", [2, 10])
def test_generate_writes_the_same_text_when_it_gives_up_early(model, observation, monkeypatch):
    """Tokens that no continuation can mend are dropped at once; waiting would drop them too."""

    def write():
        found = []
        for n in range(4):
            scheme = Gumbel(bytes([n] * 16), model.tokenizer.vocab_size)
            generator = Generator(
                model,
                watermarked_sampler(scheme, random.Random(1)),
                observation=observation,
                end_of_text=False,
            )
            found.append(generator.generate("The weather in spring was what", max_new_tokens=100))
        return found

    early = write()
    monkeypatch.setattr(Verification, "unrecoverable", False)
    late = write()
    assert [text.ids for text in early] == [text.ids for text in late]
    assert sum(text.rollbacks for text in early) == sum(text.rollbacks for text in late) > 0
    assert sum(text.forwards for text in early) < sum(text.forwards for text in late)


class TestBatch:
    @given(
        kind=st.sampled_from([ToyModel, ToyBatchModel]),
        prompts=st.lists(st.sampled_from(["a", "ab", "cab", "abcabc", "b" * 9]), max_size=6),
        tokens=st.integers(0, 20),
        observation=st.sampled_from([None, 0, 2, 10]),
        view=st.sampled_from(["continuation", "whole"]),
        end_of_text=st.booleans(),
        seed=st.integers(0, 99),
    )
    def test_generate_batch_writes_each_text_as_generate_does(
        self, kind, prompts, tokens, observation, view, end_of_text, seed
    ):
        """Those as well that the context cuts off."""
        how = {"observation": observation, "view": view, "end_of_text": end_of_text}
        model = toy(kind, context=15, seed=seed)

        def sampler(row):
            return multinomial(random.Random(f"{seed} {row}"))

        written = Generator(model, **how).generate_batch(
            prompts, max_new_tokens=tokens, samplers=sampler
        )
        alone = [
            Generator(model, sampler(row), **how).generate(prompt, max_new_tokens=tokens)
            for row, prompt in enumerate(prompts)
        ]
        assert list(map(all_but_seconds, written)) == list(map(all_but_seconds, alone))
        if observation is not None:
            assert all(text.consistent for text in written)

    @pytest.mark.slow
    @pytest.mark.parametrize("observation", [0, 10])
    def test_generate_batch_writes_each_text_as_generate_does_with_a_real_model(self, observation):
        """In float64 no choice is so close that the last bits of its logits decide it. Unlikely
        tokens are inconsistent more often.
        """
        model = tiny_model()
        prompts = ["The weather in spring", "It was", "Nobody in the village had ever seen", ""]

        def sampler(row):
            return multinomial(random.Random(row), LogitsWarper(temperature=1.6))

        written = Generator(model, observation=observation).generate_batch(
            prompts, max_new_tokens=50, samplers=sampler
        )
        for row, (prompt, text) in enumerate(zip(prompts, written, strict=True)):
            alone = Generator(model, sampler(row), observation=observation).generate(
                prompt, max_new_tokens=50
            )
            assert all_but_seconds(text) == all_but_seconds(alone)
            assert model.tokenizer.encode(text.text) == list(text.ids)
        assert sum(text.rollbacks for text in written) > 0

    def test_generate_batch_writes_the_same_text_when_its_neighbours_differ(self):
        model = toy(ToyBatchModel)

        def write(prompts):
            generator = Generator(model, seed=1, end_of_text=False)
            return [text.ids for text in generator.generate_batch(prompts, max_new_tokens=20)]

        prompts = ["ab", "c", "abc", "c"]
        written = write(prompts)
        for row, prompt in enumerate(prompts):
            assert write(["b" * n for n in range(1, row + 1)] + [prompt])[row] == written[row]
        assert written[1] != written[3]

    def test_generate_batch_continues_the_random_numbers_when_called_again(self):
        model = toy(ToyBatchModel)

        def write(generator):
            return [text.ids for text in generator.generate_batch(["ab"] * 3, max_new_tokens=20)]

        one, two = Generator(model, seed=1), Generator(model, seed=1)
        first = write(one)
        assert write(two) == first
        assert write(one) != first
        assert write(Generator(model, seed=2)) != first
        assert len(set(first)) == 3

    def test_generate_batch_uses_the_generators_sampler_when_none_is_given(self):
        model = toy(ToyBatchModel)
        written = Generator(model, greedy).generate_batch(["a", "b"], max_new_tokens=20)
        alone = [Generator(model, greedy).generate(prompt, max_new_tokens=20) for prompt in "ab"]
        assert list(map(all_but_seconds, written)) == list(map(all_but_seconds, alone))

    def test_generate_batch_makes_as_many_passes_as_the_longest_text_needs(self):
        model = toy(ToyBatchModel)
        written = Generator(model, seed=1).generate_batch(["a", "b", "abc"] * 4, max_new_tokens=20)
        assert model.passes == max(text.forwards for text in written)
        assert sum(text.rollbacks for text in written) > 0

    def test_consistent_generate_batch_takes_samplers(self):
        model = toy(ToyBatchModel)
        written = ticore.consistent_generate_batch(
            model,
            ["ab", [0]],
            samplers=lambda row: greedy,
            max_new_tokens=9,
            observation=4,
            end_of_text=False,
        )
        alone = Generator(model, greedy, observation=4, end_of_text=False)
        assert [text.ids for text in written] == [
            alone.generate(p, max_new_tokens=9).ids for p in ("ab", "a")
        ]

    def test_consistent_generate_batch_writes_the_texts_of_its_seed(self):
        model, prompts = toy(ToyBatchModel), ["ab", [0]]
        written = ticore.consistent_generate_batch(model, prompts, max_new_tokens=9, seed=3)
        again = Generator(model, seed=3).generate_batch(prompts, max_new_tokens=9)
        assert [text.ids for text in written] == [text.ids for text in again]
        with pytest.raises(SettingsError, match="seed: expected none beside a sampler"):
            ticore.consistent_generate_batch(model, prompts, samplers=lambda row: greedy, seed=3)

    @pytest.mark.parametrize(
        ("prompts", "tokens", "settings", "error", "part"),
        [
            (["a"], -1, {}, SettingsError, "^max_new_tokens: expected an integer of at least 0"),
            (["a"], "3", {}, SettingsError, "^max_new_tokens: expected an integer of at least 0"),
            (["a"], 1.5, {}, SettingsError, "^max_new_tokens: expected an integer of at least 0"),
            (["a", "a" * 12], 5, {}, PromptError, "^row 1: expected a prompt of fewer than 12"),
            (["a", [0], [8]], 5, {}, SettingsError, "^row 2: expected token ids from 0 to 7"),
            (["a", [0, 1]], 5, {"view": "whole"}, PromptError, "^row 1: expected a prompt that"),
        ],
    )
    def test_generate_batch_refuses_bad_input_before_the_model_reads(
        self, prompts, tokens, settings, error, part, monkeypatch
    ):
        monkeypatch.setattr(ToyModel, "logits_after", None)
        with pytest.raises(error, match=part):
            Generator(toy(context=12), **settings).generate_batch(prompts, max_new_tokens=tokens)


def test_generate_refuses_special_tokens_in_a_prompt_unless_they_are_boundaries():
    """They are refused if the receiver has the text alone, and boundaries if it has the tokens."""
    tokenizer = ToyTokenizer([*TOYS, "<s>"], special={7, 8})
    model = ToyModel(tokenizer, eos_ids={7})
    chat = [8, 0, 1, 7, 8, 2]  # a b before the first boundary, which are read back as ab
    with pytest.raises(PromptError, match="where the receiver keeps special tokens, specials="):
        Generator(model, view="whole").generate(chat[3:], max_new_tokens=5)
    boundaries = Generator(model, view="whole", specials="gaps", seed=1)
    written = boundaries.generate(chat[3:], max_new_tokens=20)
    assert written.consistent
    assert compare(tokenizer, [*chat[3:], *written.ids]).consistent
    with pytest.raises(PromptError, match="reads back as the tokens given, found another"):
        boundaries.generate(chat, max_new_tokens=20)
    watermarker = Watermarker(model, key=bytes(32), view="whole", specials="gaps")
    assert watermarker.generate(chat[3:], max_new_tokens=20).consistent


def test_writers_refuse_what_is_not_a_model():
    for make in (Generator, Watermarker, Steganographer):
        with pytest.raises(SettingsError, match=r"expected a model as .*, found a builtins.object"):
            make(object())
