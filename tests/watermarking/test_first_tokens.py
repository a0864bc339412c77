"""First tokens that nothing can mend are banned at once, and no text becomes likelier or rarer."""

import pytest

import ticore
from tests.support.choice_trees import distribution
from tests.support.tokenizers import TRAINED
from tests.support.toy_models import ToyBrackets, ToyModel
from ticore.consistency import Verifier
from ticore.errors import CapacityError
from ticore.watermarking import Generator, Rollback, WholeTextRejection, greedy
from ticore.watermarking import _rollback as rollback
from ticore.watermarking import _whole_text_rejection as whole_text_rejection
from ticore.watermarking._first_tokens import hopeless

# The third and fourth are spelled as the first two are, and read as those. The last ends a text.
PIECES = ["a", "b", "a", "b", "."]
HOPELESS = {2, 3}
KINDS = {"windowed": Rollback, "exact": WholeTextRejection}


@pytest.fixture
def model():
    tokenizer = ToyBrackets(PIECES, special={len(PIECES) - 1})
    return ToyModel(tokenizer, eos_ids={len(PIECES) - 1}, sharpness=1.0)


def texts_of(model, kind, never_first):
    """The probability of each text among those written, and that none is."""
    how = {"observation": 0} if kind == "windowed" else {"max_attempts": 2}
    found, given_up = distribution(
        lambda sampler: KINDS[kind](
            model.start([0]),
            Verifier(model.tokenizer).start(),
            sampler,
            max_new_tokens=2,
            eos_ids=model.eos_ids,
            never_first=never_first,
            **how,
        )
    )
    return {text: p / (1 - given_up) for text, p in found.items()}, given_up


@pytest.mark.parametrize("kind", KINDS)
def test_each_text_has_the_probability_that_it_has_without(kind, model, monkeypatch):
    for module in (rollback, whole_text_rejection):
        monkeypatch.setattr(module, "PATIENCE", 1)
    asked = []

    def never_first():
        asked.append(1)
        return HOPELESS

    expected, given_up_without = texts_of(model, kind, None)
    found, given_up = texts_of(model, kind, never_first)
    assert asked
    assert found == pytest.approx(expected)
    assert given_up < given_up_without or kind == "windowed"


def test_first_tokens_are_looked_for_where_a_text_begins_alone(model, monkeypatch):
    """What cannot begin a text may stand inside it, also after tokens that are taken back."""
    monkeypatch.setattr(rollback, "PATIENCE", 1)
    plan = iter([0, 2, 1])
    text = Rollback(
        model.start([0]),
        Verifier(model.tokenizer).start(),
        lambda ids, logits: next(plan),
        max_new_tokens=2,
        observation=0,
        never_first=lambda: {1, *HOPELESS},
    )
    list(text.run())
    assert (text.committed, text.rollbacks) == ([0, 1], 1)


@pytest.mark.parametrize("name", ["sp-bpe", "sp-unigram", "hf-gpt2"])
def test_no_continuation_mends_what_is_hopeless(name):
    tokenizer = TRAINED[name]()
    verification = Verifier(tokenizer).start()
    ids = [token for token in range(tokenizer.vocab_size) if token not in tokenizer.special_ids]
    found = hopeless(verification, ids)
    assert found
    assert verification.ids == ()
    following = tokenizer.encode("the fox 東京!")
    for token in ids:
        for more in ([], following[:1], following):
            text = [token, *more]
            if tokenizer.encode(tokenizer.decode(text)) == text:
                assert token not in found


@pytest.mark.parametrize("how", ["windowed", "exact"])
def test_a_japanese_text_begins_after_a_few_draws(how):
    model = ticore.load_model("tiny-ja", dtype="float32")
    for seed in range(3):
        text = ticore.consistent_generate(
            model, "昔々ある所に", rollback=how, max_new_tokens=5, seed=seed
        )
        assert text.rollbacks < 40
        assert len(text.ids) == 5


def test_the_likeliest_text_is_the_one_that_bans_one_by_one_give(monkeypatch):
    model = ticore.load_model("tiny-ja", dtype="float32")
    at_once, one_by_one = Generator(model, greedy), Generator(model, greedy)
    monkeypatch.setattr(rollback, "PATIENCE", 10_000)
    expected = one_by_one.generate("昔々ある所に", max_new_tokens=4)
    monkeypatch.undo()
    found = at_once.generate("昔々ある所に", max_new_tokens=4)
    assert found.ids == expected.ids
    assert found.rollbacks < expected.rollbacks


def test_a_text_that_is_read_after_its_prompt_begins_as_any_other_place_goes_on(monkeypatch):
    """What cannot begin a text by itself may follow the prompt."""
    monkeypatch.setattr(rollback, "PATIENCE", 1)
    monkeypatch.setattr("ticore.watermarking._writer.hopeless", lambda *_: frozenset({1}))
    generator = Generator(
        ToyModel(ToyBrackets(["a", "b", "aa", "c"])),
        lambda ids, logits: next(n for n, logit in enumerate(logits) if logit > -float("inf")),
        view="whole",
        observation=0,
    )
    text = generator.generate("a", max_new_tokens=1)
    assert (text.whole, text.rollbacks) == ("ab", 1)


def test_where_nothing_can_begin_the_writer_says_so(monkeypatch):
    """Then no id is banned before it is tried: a sampler needs one that it can choose."""
    model = ticore.load_model("tiny-ja", dtype="float32")
    monkeypatch.setattr("ticore.watermarking._writer.hopeless", lambda _, ids: frozenset(ids))
    with pytest.raises(CapacityError, match="expected a consistent text in 12 attempts"):
        Generator(model, rollback="exact", max_attempts=12, seed=1).generate(
            "昔々ある所に", max_new_tokens=4
        )
