"""Texts in which no boundary settles for long: the same answers, with the same work per token."""

import random
from contextlib import contextmanager

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.random_bpe import MODES, PATTERNS, Bpe, cuts_of, engine_of, few_characters
from tests.support.slow import pairs_of, slow_unless, some_pairs
from tests.support.tokenizers import REAL, TRAINED
from ticore.consistency import Verification, Verifier
from ticore.consistency._engines.bpe.character_classes import Shapes
from ticore.consistency._engines.chain import Chain
from ticore.consistency._engines.retokenizing import Oracle
from ticore.consistency._tokenizer_rules.pretokenizers import Splitter

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
    """A byte-level tokenizer and a text of long runs, whose characters its rules merge."""
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


# A positive number: push that many true tokens. A text: push another token. A negative number: take
# that many back.
steps = st.lists(
    st.integers(1, 60) | st.builds(str, st.integers(0, 99)) | st.integers(-30, -1), max_size=6
)


def check(verification, oracle, tokens):
    """Compare what a verification says about its list with the definition."""
    ids = list(verification.ids)
    assert verification.consistent == oracle.is_consistent(ids)
    assert verification.admissible == oracle.may_begin(ids)
    if verification.admissible:
        assert verification.admits(tokens).tolist() == oracle.admits(ids, tokens).tolist()
    elif verification.unrecoverable:
        assert not any(oracle.may_begin([*ids, token]) for token in tokens)


@pytest.mark.slow
@any_mode
@settings(max_examples=settings.default.max_examples // 3)
@given(case=with_runs(), steps=steps, draw=st.randoms(use_true_random=False))
@example(
    case=(Bpe(pattern="o200k", rules=((b"a", b"a"),)), "aA" * 40), steps=[70], draw=random.Random(0)
)
def test_verification_answers_as_the_definition_in_long_runs_of_random_tokenizers(
    mode, case, steps, draw
):
    model, text = case
    tokenizer, some_ids = model.open(), model.ids_to_compare()
    true = tokenizer.encode(text)
    with few_characters():
        engine, oracle = engine_of(tokenizer, mode)
        verification = Verification(engine, oracle, cuts_of(tokenizer), ())
        for step in [*steps, len(true)]:
            if isinstance(step, str):
                verification.push(some_ids[int(step) % len(some_ids)])
            elif step > 0:
                at = len(verification.ids)
                for token in true[at : at + step]:
                    verification.push(token)
            else:
                verification.rewind(min(-step, len(verification.ids)))
            check(verification, oracle, draw.sample(some_ids, k=min(6, len(some_ids))))


TRAINED_HERE = (
    *("hf-gpt2", "hf-cl100k-nfc", "hf-o200k", "hf-ignore-merges"),
    *("sp-bpe", "sp-bpe-added", "sp-unigram"),
)
LONG = some_pairs(TRAINED_HERE, KINDS, one_in=2)


def opened(name):
    return (TRAINED.get(name) or REAL[name])()


def push_and_compare(verification, oracle, true, draw):
    """Push the tokens of a text, and in some places wrong ones that are taken back; compare."""
    tokenizer = oracle.tokenizer
    usual = [i for i in set(true) if i not in tokenizer.special_ids]
    for at, token in enumerate(true):
        if at in (3, 40) or at == len(true) - 2:
            wrong = [draw.choice(usual), *true[at : at + 3]][: draw.randrange(1, 5)]
            for other in wrong:
                verification.push(other)
                ids = list(verification.ids)
                assert verification.consistent == oracle.is_consistent(ids)
                assert verification.admissible == oracle.may_begin(ids)
                if verification.unrecoverable:
                    assert not oracle.may_begin([*ids, *true[at:]])
            verification.rewind(len(wrong))
        verification.push(token)
    ids = list(verification.ids)
    assert verification.admissible
    assert verification.consistent
    some = [*usual[:12], *draw.choices(range(tokenizer.vocab_size), k=12)]
    some = [i for i in some if i not in tokenizer.special_ids and tokenizer.token_bytes(i)]
    some = [i for i in some if tokenizer.token_bytes(i)[-1] < 0xE0]
    assert verification.admits(some).tolist() == oracle.admits(ids, some).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("name", [*TRAINED_HERE, "gpt2", "llama-3", "qwen2.5"])
def test_verification_answers_as_the_definition_in_long_runs_of_real_text(name):
    """Some runs are shorter and some longer than what a state keeps."""
    tokenizer, draw = opened(name), random.Random(name)
    mode = draw.choice(MODES) if name in TRAINED else "prefix"
    oracle, verifier = Oracle(tokenizer, mode), Verifier(tokenizer, mode=mode)
    for kind, unit in KINDS.items():
        length = draw.choice([draw.randrange(1, 40), draw.randrange(40, 90), 150])
        text = ("o" if kind == "marks" else "") + (unit * length)[:length]
        text = draw.choice(["", "Well", "!", "a\n"]) + text + draw.choice(["", "x", " y", "\n"])
        true = tokenizer.encode(text)
        if tokenizer.encode(tokenizer.decode(true)) == true:
            push_and_compare(verifier.start(), oracle, true, draw)


@contextmanager
def counted():
    """Count the characters and tokens that verification reads."""
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
        count(Oracle, "is_consistent", lambda self, ids: len(ids))
        count(Oracle, "may_begin", lambda self, ids: len(ids))
        count(Oracle, "admits", lambda self, ids, candidates: len(ids) * len(list(candidates)))
        yield found


@pytest.mark.parametrize(("name", "kind"), slow_unless(pairs_of(["hf-gpt2"], LONG), LONG))
def test_push_reads_no_more_text_when_a_run_gets_longer(name, kind):
    """Wrong tokens, and asking about candidates, take no more work either."""
    tokenizer = opened(name)
    true = tokenizer.encode(("o" if kind == "marks" else "") + KINDS[kind] * 500)[:500]
    verification = Verifier(tokenizer).start()
    most = [0, 0]  # in the first half and in the second
    with counted() as found:
        for at, token in enumerate(true):
            before = found[0]
            if at % 16 == 5:
                for other in (token, token, true[0]):
                    verification.push(other)
                    _ = verification.consistent
                verification.rewind(3)
            verification.push(token)
            _ = verification.consistent, verification.consistent
            if verification.admissible:
                verification.admits([token, true[0]])
            half = at >= len(true) // 2
            most[half] = max(most[half], found[0] - before)
    assert most[1] <= max(1.25 * most[0], 1000), most
