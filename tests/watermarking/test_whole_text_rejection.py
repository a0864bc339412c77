"""Exact rollback writes each consistent text as often as the model does, and comes to an end."""

import itertools
import random
from collections import defaultdict
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

import ticore
from tests.support.choice_trees import distribution, softmax
from tests.support.toy_models import ToyBatchModel, ToyBrackets, ToyModel
from ticore.consistency import Verifier
from ticore.errors import CapacityError, SettingsError
from ticore.schemes import SCHEMES, Gumbel, make_scheme
from ticore.watermarking import (
    Generator,
    LogitsWarper,
    Watermarker,
    WholeTextRejection,
    greedy,
    multinomial,
    watermarked_sampler,
)
from ticore.watermarking._samplers import is_deterministic

KEY = bytes(range(32))
# The last piece is the end of text. In the first ones an inconsistency stays; what follows a "<" is
# mended by a ">".
PERMANENT = ["a", "b", "ab", "."]
TEMPORARY = ["?", "<", ">", "."]
NEVER_CONSISTENT = ["a", "aa"]


def toy(pieces, kind=ToyModel, end=True, **settings):
    tokenizer = ToyBrackets(pieces, special={len(pieces) - 1} if end else ())
    return kind(tokenizer, eos_ids={len(pieces) - 1} if end else (), **settings)


def is_consistent(tokenizer, ids):
    return tokenizer.encode(tokenizer.decode(ids)) == list(ids)


def conditioned(model, prompt, length, logits_of=lambda ids, logits: logits):
    """The probability of each consistent text, among the consistent ones; and their share.

    Args:
        logits_of: what is sampled from after `ids`, by the model's logits.
    """
    found, (end,) = defaultdict(float), model.eos_ids
    for text in itertools.chain(*(itertools.product(range(end), repeat=n) for n in range(length))):
        found[text] += probability(model, prompt, (*text, end), logits_of)
    for text in itertools.product(range(end), repeat=length):
        found[text] += probability(model, prompt, text, logits_of)
    assert sum(found.values()) == pytest.approx(1)
    kept = {text: p for text, p in found.items() if is_consistent(model.tokenizer, text)}
    share = sum(kept.values())
    return {text: p / share for text, p in kept.items()}, share


def probability(model, prompt, text, logits_of):
    product = 1.0
    for n, token in enumerate(text):
        ids = [*prompt, *text[:n]]
        product *= softmax(logits_of(ids, model.logits_after(ids)))[token]
    return product


@pytest.mark.parametrize("pieces", [PERMANENT, TEMPORARY])
@pytest.mark.parametrize("attempts", [1, 2])
def test_each_consistent_text_has_its_probability_in_the_model(pieces, attempts):
    """All choices are tried: each attempt gives a consistent text y with the probability p(y)."""
    length = 4 - attempts
    for seed in range(3):
        model = toy(pieces, seed=seed, sharpness=1.0)
        expected, share = conditioned(model, [0], length)

        found, given_up = distribution(
            lambda sampler, model=model: WholeTextRejection(
                model.start([0]),
                Verifier(model.tokenizer).start(),
                sampler,
                max_new_tokens=length,
                eos_ids=model.eos_ids,
                max_attempts=attempts,
            )
        )
        fails = (1 - share) ** attempts
        assert given_up == pytest.approx(fails, abs=1e-12)
        assert found.keys() == expected.keys()
        for text, p in expected.items():
            assert found[text] / (1 - fails) == pytest.approx(p, rel=1e-9)
        assert 0.3 < share < 0.999


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["none", "left_hash"])
def test_samples_follow_the_warped_watermarked_model_conditioned_on_consistent_texts(scheme):
    """A chi-square test of seeded samples, of all ways to write."""
    model = toy(TEMPORARY, ToyBatchModel, seed=2, sharpness=1.0)
    warp, prompt, length = LogitsWarper(temperature=1.3, top_p=0.95), [0], 3
    settings = {"rollback": "exact", "seed": 1}
    if scheme == "none":
        draw = random.Random(1)
        writer = Generator(model, multinomial(draw, warp), rollback="exact")

        def logits_of(ids, logits):
            return warp(logits)
    else:
        made = make_scheme(scheme, KEY, len(TEMPORARY))
        writer = Watermarker(model, made, temperature=1.3, top_p=0.95, **settings)

        def logits_of(ids, logits):
            return made.bias(ids[len(ids) - made.context :], warp(logits))

    expected, share = conditioned(model, prompt, length, logits_of)
    assert 0.2 < share < 0.9
    texts = writer.generate_batch([prompt] * 400, max_new_tokens=length)
    texts += [writer.generate(prompt, max_new_tokens=length) for _ in range(200)]
    counts = dict.fromkeys(expected, 0)
    for text in texts:
        counts[text.ids] += 1  # no other text is ever written
    rare = [text for text, p in expected.items() if p * len(texts) < 5]
    likely = [text for text in expected if text not in rare]
    observed = [counts[text] for text in likely] + [sum(counts[text] for text in rare)]
    shares = [expected[text] for text in likely] + [sum(expected[text] for text in rare)]
    assert len(likely) > 5
    assert chisquare(observed, np.array(shares) * len(texts)).pvalue > 1e-3
    # 1 / Z attempts are expected.
    attempts, deviation = [text.rollbacks + 1 for text in texts], np.sqrt(1 - share) / share
    assert np.mean(attempts) == pytest.approx(1 / share, abs=5 * deviation / len(texts) ** 0.5)


class CountingModel(ToyModel):
    """Counts the tokens that its decoders read after the prompt."""

    read = 0

    def start(self, prompt_ids):
        decoder = super().start(prompt_ids)
        push = decoder.push

        def counted(token):
            self.read += 1
            push(token)

        decoder.push = counted
        return decoder


@pytest.mark.slow
@given(
    pieces=st.sampled_from([PERMANENT, TEMPORARY, ["a", "z", "za", "zz"], ["a", "aa", "aaa", "b"]]),
    seed=st.integers(0, 99),
    tokens=st.integers(0, 12),
    attempts=st.integers(1, 20),
    view=st.sampled_from(["continuation", "whole"]),
    end=st.booleans(),
)
def test_texts_are_consistent_or_there_is_an_error(pieces, seed, tokens, attempts, view, end):
    """After at most `max_attempts` attempts. All reads are counted. A stream gives one piece."""
    model = toy(pieces, CountingModel, end=end, seed=seed, context=11)
    how = {"rollback": "exact", "max_attempts": attempts, "view": view, "seed": seed}
    stream = Generator(model, **how).stream([0], max_new_tokens=tokens)
    shown = []
    with suppress(CapacityError):
        shown = list(stream)
    text = stream.result()
    if stream.rollback.end is None:
        assert (text.ids, text.rollbacks) == ((), attempts)
        with pytest.raises(CapacityError, match=f"consistent text in {attempts} attempts, found"):
            stream.rollback.step()
        return
    assert text.consistent
    assert text.rollbacks < attempts
    assert text.forwards == model.read
    assert [piece for piece in shown if piece] == ([text.text] if text.text else [])
    assert len(text.ids) == min(tokens, 10) or text.end == "end of text"
    assert text.end in ("length", "end of text", "context")


def test_a_text_that_reaches_its_length_inside_an_inconsistency_is_dropped():
    """ "<" would be mended by the next token, but the text has no room for it."""
    model = toy(TEMPORARY, end=False)
    plan = iter([0, 1, 0, 0])
    text = WholeTextRejection(
        model.start([0]),
        Verifier(model.tokenizer).start(),
        lambda ids, logits: next(plan),
        max_new_tokens=2,
    )
    list(text.run())
    assert (text.committed, text.end, text.rollbacks, text.forwards) == ([0, 0], "length", 1, 2)


@given(
    prompts=st.lists(st.integers(1, 5), max_size=4),
    tokens=st.integers(0, 9),
    seed=st.integers(0, 99),
)
def test_generate_batch_writes_each_text_as_generate_does(prompts, tokens, seed):
    model = toy(PERMANENT, ToyBatchModel, seed=seed)
    begins = [[0] * count for count in prompts]

    def sampler(row):
        return multinomial(random.Random(f"{seed} {row}"))

    def facts(text):
        return text.ids, text.end, text.rollbacks, text.temporary, text.forwards

    how = {"rollback": "exact", "max_attempts": 10_000}
    batch = Generator(model, **how).generate_batch(begins, max_new_tokens=tokens, samplers=sampler)
    alone = [
        Generator(model, sampler(row), **how).generate(begin, max_new_tokens=tokens)
        for row, begin in enumerate(begins)
    ]
    assert list(map(facts, batch)) == list(map(facts, alone))


@pytest.mark.slow
def test_an_attempt_that_nothing_can_mend_is_dropped_at_once():
    """ " c", "old" is read as " cold", whatever follows: "old" need not be read by the model."""
    tokenizer = ticore.load_tokenizer("tiny-en")
    model, kept = ToyModel(tokenizer), tokenizer.encode("The morning was cold and")
    old = 705
    assert tokenizer.token_bytes(old) == b"old"
    plan = iter([*tokenizer.encode("The morning was c"), old, *kept])
    text = WholeTextRejection(
        model.start([]),
        Verifier(tokenizer).start(),
        lambda ids, logits: next(plan),
        max_new_tokens=len(kept),
    )
    list(text.run())
    assert (text.committed, text.rollbacks) == (kept, 1)
    assert text.forwards == 4 + len(kept) - 1


def test_generate_batch_names_the_row_that_has_no_consistent_text():
    model = toy(NEVER_CONSISTENT, ToyBatchModel, end=False, sharpness=0.0)
    plans = {0: [1] * 2, 1: [0] * 20}

    def sampler(row):
        plan = iter(plans[row])
        return lambda ids, logits: next(plan)

    writer = Generator(model, rollback="exact", max_attempts=3)
    with pytest.raises(CapacityError, match=r"^row 1: expected a consistent text in 3 attempts"):
        writer.generate_batch([[0]] * 2, max_new_tokens=2, samplers=sampler)


def test_consistent_generate_gives_up_after_its_attempts():
    """Alone and for many prompts: both settings reach the writer."""
    model = toy(NEVER_CONSISTENT, ToyBatchModel, end=False)

    def sampler(ids, logits):
        return 0

    how = {"rollback": "exact", "max_attempts": 3, "max_new_tokens": 2}
    with pytest.raises(CapacityError, match=r"^expected a consistent text in 3 attempts"):
        ticore.consistent_generate(model, [0], sampler=sampler, **how)
    with pytest.raises(CapacityError, match=r"^row 0: expected a consistent text in 3 attempts"):
        ticore.consistent_generate_batch(model, [[0]], samplers=lambda row: sampler, **how)


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        ({"rollback": "nix"}, "rollback: expected one of windowed, exact, found 'nix'"),
        ({"max_attempts": 0}, "max_attempts: expected an integer of at least 1, found 0"),
        ({"observation": None}, "observation: expected a number of tokens with rollback='exact'"),
        ({"sampler": greedy}, "rollback: expected 'windowed' with a sampler whose choices depend"),
    ],
)
def test_generator_refuses_settings(settings, part):
    with pytest.raises(SettingsError, match=part):
        Generator(toy(PERMANENT), **{"rollback": "exact"} | settings)


@pytest.mark.parametrize("version", [1, 2])
def test_exact_rollback_refuses_a_scheme_whose_choices_the_key_decides(version):
    model, scheme = toy(PERMANENT, ToyBatchModel), Gumbel(KEY, len(PERMANENT), version=version)
    sampler = watermarked_sampler(scheme, random.Random(1))
    with pytest.raises(SettingsError, match="such as greedy or the scheme gumbel"):
        Watermarker(model, scheme, rollback="exact")
    with pytest.raises(SettingsError, match="such as greedy or the scheme gumbel"):
        Generator(model, sampler, rollback="exact")
    writer = Generator(model, rollback="exact")
    with pytest.raises(SettingsError, match=r"^row 0: .* such as greedy or the scheme gumbel"):
        writer.generate_batch([[0]], samplers=lambda row: sampler)
    for other in SCHEMES.keys() - {"gumbel"}:
        assert not is_deterministic(
            watermarked_sampler(make_scheme(other, KEY, 5), random.Random())
        )
