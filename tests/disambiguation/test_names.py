"""Disambiguations by name: what a name may say, and what goes with it."""

import pytest

from tests.disambiguation.pools import pool
from tests.models import ToyTokenizer
from tests.tokenizers import TRAINED
from ticore.disambiguation import DISAMBIGUATIONS, Beginning, disambiguation_named
from ticore.draws import Draws
from ticore.errors import SettingsError

TOY = ToyTokenizer(["a", "b", "ab", "c"])
COMPARING = ("basic", "mwis", "syncpool")


@pytest.mark.parametrize("name", DISAMBIGUATIONS)
def test_every_name_makes_a_disambiguation(name):
    made = disambiguation_named(name).make(Beginning(TOY, "c", [3]))
    session = made.start()
    session.push(int(session.refine(pool(2, 3), iter([])).ids[0]))
    assert session.text() == "cab"
    assert made.read("cab").locate(made.start().refine(pool(2, 3), iter([]))) == 0


@pytest.mark.parametrize("name", DISAMBIGUATIONS)
def test_only_what_is_keyed_takes_note_of_draws(name):
    kind = disambiguation_named(name)
    sessions = [kind.make(Beginning(TOY, "", [])).start() for _ in range(2)]
    sessions[0].share(Draws(bytes(16), "test"))
    shared, alone = (session.refine(pool(0, 2, 1, 3), iter([])) for session in sessions)
    assert (shared.group.tolist() != alone.group.tolist()) == kind.keyed


@pytest.mark.parametrize("name", COMPARING)
def test_a_word_selects_the_strings(name):
    """SentencePiece shows the lone space as nothing, and that begins everything."""
    tokenizer = TRAINED["sp-bpe"]()
    tokens = {tokenizer.token_bytes(i): i for i in range(259, tokenizer.vocab_size)}
    candidates = pool(tokens[b" "], tokens[b"a"])
    numbers = {}
    for word in ("", ":bytes", ":decoded"):
        session = disambiguation_named(name + word).make(Beginning(tokenizer, "x", [])).start()
        session.share(Draws(bytes(16), "test"))
        numbers[word] = len(session.refine(candidates, iter([])).ids)
    assert numbers == {"": 2, ":bytes": 2, ":decoded": 1}


def test_a_word_selects_the_rung():
    beginning = Beginning(TOY, "", [])
    assert disambiguation_named("stepwise:oracle").make(beginning).start() is not None
    with pytest.raises(SettingsError, match="the rung 'mask' is not exact here"):
        disambiguation_named("stepwise:mask").make(beginning)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x", "unknown disambiguation 'x': choose one of basic, mwis, none, stepwise, syncpool"),
        ("", "unknown disambiguation ''"),
        ("basic:", "expected one of basic, basic:bytes, basic:decoded, found 'basic:'"),
        ("mwis:ids", "expected one of mwis, mwis:bytes, mwis:decoded, found 'mwis:ids'"),
        ("syncpool:bytes:", "found 'syncpool:bytes:'"),
        ("none:bytes", "expected one of none, found 'none:bytes'"),
        ("stepwise:decoded", "stepwise:mask, .*, found 'stepwise:decoded'"),
    ],
)
def test_names_that_say_nothing(name, message):
    with pytest.raises(SettingsError, match=message):
        disambiguation_named(name)


@pytest.mark.parametrize("name", DISAMBIGUATIONS)
def test_a_mode_is_for_those_that_verify(name):
    beginning = Beginning(TOY, "", [], mode="viable")
    if name == "stepwise":
        assert disambiguation_named(name).make(beginning).start().text() == ""
    else:
        with pytest.raises(SettingsError, match=r"mode: expected 'prefix' .* found 'viable'"):
            disambiguation_named(name).make(beginning)
