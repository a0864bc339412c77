"""Texts in which no boundary settles for long: the same answers, and no more work."""

import random
from contextlib import contextmanager

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.consistency.random_bpe import MODES, PATTERNS, Bpe, engine_of, few_characters
from tests.tokenizers import REAL, TRAINED
from ticore.consistency import Verification, Verifier
from ticore.consistency.bpe.shapes import Shapes
from ticore.consistency.chain import Chain
from ticore.consistency.oracle import Oracle
from ticore.consistency.patterns import Splitter
from ticore.consistency.tail import cut_finder

any_mode = pytest.mark.parametrize("mode", MODES)

UNITS = (
    "a",
    "aA",
    "A",
    "あ",
    "Aあ",
    "1",
    "!",
    "!/",
    "/\n",
    "'",
    " ",
    " \n",
    "\t ",
    "\r\n",
    "\u0316",
)
KINDS = {
    "Chinese": "的一是不了人我在有他这为之大来以个中上们",
    "DNA": "ACGTTGCA",
    "one letter": "a",
    "digits": "3141592653",
    "equals signs": "=",
    "dashes": "-",
    "spaces": " ",
    "line feeds": "\n",
    "line ends": "\r\n",
    "white space": " \n\t \n",
    "emoji": "👨\u200d👩\u200d👧",
    "hearts": "👩\u200d❤\ufe0f",
    "marks": "\u0316",
    "camel case": "aBcD",
    "quotes": "'",
}


@st.composite
def with_runs(draw):
    """A byte-level tokenizer and a text of long runs; its rules join what the runs are made of."""
    units = draw(st.lists(st.sampled_from(UNITS), min_size=1, max_size=3))
    rules = {}
    for unit in units:
        data, word = unit.encode(), b""
        for n in range(draw(st.integers(1, 2 * len(data) + 1))):
            atom = data[n % len(data) :][:1]
            if word:
                rules[word, atom] = None
            word += atom
    model = Bpe(
        pattern=draw(st.sampled_from(sorted(PATTERNS))),
        rules=tuple(draw(st.permutations(list(rules)))),
        ignore_merges=draw(st.booleans()),
        normal_form=draw(st.sampled_from(["", "", "NFC"])),
        added=draw(st.sampled_from([(), ("!!!x",)])),
    )
    parts = st.builds(lambda unit, n: unit * n, st.sampled_from(units), st.integers(1, 40))
    return model, "".join(draw(st.lists(parts, min_size=1, max_size=3))) + draw(
        st.sampled_from(["", "a", " ", "\n", "'s", "o\u0301"])
    )


# How many true tokens to push; or another token; or how many to take back.
steps = st.lists(
    st.integers(1, 60) | st.builds(str, st.integers(0, 99)) | st.integers(-30, -1), max_size=6
)


def check(verification, judge, tokens):
    """All that a verification says is what the definition says of its list."""
    ids = list(verification.ids)
    assert verification.consistent == judge.finished_ok(ids)
    assert verification.admissible == judge.may_begin(ids)
    if verification.admissible:
        assert verification.admits(tokens).tolist() == judge.admits(ids, tokens).tolist()
    elif verification.lost:
        assert not any(judge.may_begin([*ids, token]) for token in tokens)


@any_mode
@settings(max_examples=settings.default.max_examples // 3)
@given(case=with_runs(), steps=steps, draw=st.randoms(use_true_random=False))
@example(
    case=(Bpe(pattern="o200k", rules=((b"a", b"a"),)), "aA" * 40), steps=[70], draw=random.Random(0)
)
def test_random_tokenizers_in_long_runs(mode, case, steps, draw):
    """Through what fits and what does not, and back."""
    model, text = case
    tokenizer, telling = model.open(), model.telling()
    true = tokenizer.encode(text)
    with few_characters():
        engine, judge = engine_of(tokenizer, mode)
        verification = Verification(engine, judge, cut_finder(tokenizer), ())
        for step in [*steps, len(true)]:
            if isinstance(step, str):
                verification.push(telling[int(step) % len(telling)])
            elif step > 0:
                at = len(verification.ids)
                for token in true[at : at + step]:
                    verification.push(token)
            else:
                verification.rewind(min(-step, len(verification.ids)))
            check(verification, judge, draw.sample(telling, k=min(6, len(telling))))


TRAINED_HERE = (
    *("hf-gpt2", "hf-cl100k-nfc", "hf-o200k", "hf-ignore-merges"),
    *("sp-bpe", "sp-bpe-added", "sp-unigram"),
)


def opened(name):
    return (TRAINED.get(name) or REAL[name])()


def along(verification, judge, true, draw):
    """Push a true text, with wrong turns that are taken back; compare here and there."""
    tokenizer = judge.tokenizer
    usual = [i for i in set(true) if i not in tokenizer.special_ids]
    for at, token in enumerate(true):
        if at in (3, 40) or at == len(true) - 2:
            wrong = [draw.choice(usual), *true[at : at + 3]][: draw.randrange(1, 5)]
            for other in wrong:
                verification.push(other)
                ids = list(verification.ids)
                assert verification.consistent == judge.finished_ok(ids)
                assert verification.admissible == judge.may_begin(ids)
                if verification.lost:
                    assert not judge.may_begin([*ids, *true[at:]])
            verification.rewind(len(wrong))
        verification.push(token)
    ids = list(verification.ids)
    assert verification.admissible
    assert verification.consistent
    some = [*usual[:12], *draw.choices(range(tokenizer.vocab_size), k=12)]
    some = [i for i in some if i not in tokenizer.special_ids and tokenizer.token_bytes(i)]
    some = [i for i in some if tokenizer.token_bytes(i)[-1] < 0xE0]
    assert verification.admits(some).tolist() == judge.admits(ids, some).tolist()


@pytest.mark.parametrize("name", [*TRAINED_HERE, "gpt2", "llama-3", "qwen2.5"])
def test_real_runs(name):
    """Of lengths up to, and beyond, what a state keeps."""
    tokenizer, draw = opened(name), random.Random(name)
    mode = draw.choice(MODES) if name in TRAINED else "prefix"
    judge, verifier = Oracle(tokenizer, mode), Verifier(tokenizer, mode)
    for kind, unit in KINDS.items():
        length = draw.choice([draw.randrange(1, 40), draw.randrange(40, 90), 150])
        text = ("o" if kind == "marks" else "") + (unit * length)[:length]
        text = draw.choice(["", "Well", "!", "a\n"]) + text + draw.choice(["", "x", " y", "\n"])
        true = tokenizer.encode(text)
        if tokenizer.encode(tokenizer.decode(true)) == true:
            along(verifier.start(), judge, true, draw)


@contextmanager
def counted():
    """Counts the characters and tokens that are gone through, whoever does it."""
    found = [0]

    def count(kind, name, size):
        plain = getattr(kind, name)

        def counting(self, *args, **settings):
            found[0] += size(self, *args)
            return plain(self, *args, **settings)

        patch.setattr(kind, name, counting)

    with pytest.MonkeyPatch.context() as patch:
        count(Splitter, "ends", lambda self, text: len(text))
        count(Shapes, "shape", lambda self, text: len(text))
        count(Chain, "ids", len)
        count(Oracle, "finished_ok", lambda self, ids: len(ids))
        count(Oracle, "may_begin", lambda self, ids: len(ids))
        count(Oracle, "admits", lambda self, ids, candidates: len(ids) * len(list(candidates)))
        yield found


@pytest.mark.parametrize("name", TRAINED_HERE)
@pytest.mark.parametrize("kind", list(KINDS))
def test_the_work_of_a_push_does_not_grow(name, kind):
    """Nor that of a wrong token, of the tokens after it, and of asking about them."""
    tokenizer = opened(name)
    true = tokenizer.encode(("o" if kind == "marks" else "") + KINDS[kind] * 500)[:500]
    verification = Verifier(tokenizer).start()
    most = [0, 0]  # of the first and of the second half
    with counted() as found:
        for at, token in enumerate(true):
            before = found[0]
            if at % 16 == 5:
                for other in (token, token, true[0]):
                    verification.push(other)
                    _ = verification.consistent
                verification.rewind(3)
            verification.push(token)
            _ = verification.consistent, verification.finished_ok()
            if verification.admissible:
                verification.admits([token, true[0]])
            half = at >= len(true) // 2
            most[half] = max(most[half], found[0] - before)
    assert most[1] <= max(1.25 * most[0], 1000), most
