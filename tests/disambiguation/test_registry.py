"""Disambiguations by name: what a name may say, and what goes with it."""

from functools import partial

import pytest

from tests.support.pools import pool
from tests.support.tokenizers import TRAINED
from tests.support.toy_models import ToyTokenizer
from ticore import disambiguation
from ticore._support.shared_randomness import SharedRandomness
from ticore.disambiguation import (
    DISAMBIGUATIONS,
    Basic,
    DisambiguationSpec,
    Mwis,
    PromptContext,
    SharingSession,
    disambiguation_named,
    disambiguation_spec,
)
from ticore.errors import SettingsError

TOY = ToyTokenizer(["a", "b", "ab", "c"])
COMPARING = ("basic", "mwis", "syncpool")


@pytest.mark.parametrize("name", DISAMBIGUATIONS)
def test_disambiguation_named_makes_one_of_every_name(name):
    made = disambiguation_named(name).make(PromptContext(TOY, "c", [3]))
    session = made.start()
    session.push(int(session.refine(pool(2, 3), iter([])).ids[0]))
    assert session.text() == "cab"
    assert made.read("cab").locate(made.start().refine(pool(2, 3), iter([]))) == 0


@pytest.mark.parametrize("name", DISAMBIGUATIONS)
def test_share_changes_choices_only_when_keyed(name):
    kind = disambiguation_named(name)
    sessions = [kind.make(PromptContext(TOY, "", [])).start() for _ in range(2)]
    assert all(isinstance(session, SharingSession) == kind.keyed for session in sessions)
    if kind.keyed:
        sessions[0].share(SharedRandomness(bytes(16), "test"))
    shared, alone = (session.refine(pool(0, 2, 1, 3), iter([])) for session in sessions)
    assert (shared.group.tolist() != alone.group.tolist()) == kind.keyed


@pytest.mark.parametrize("name", COMPARING)
def test_disambiguation_named_selects_the_strings_by_a_word(name):
    """SentencePiece shows the lone space as nothing, and that begins everything."""
    tokenizer = TRAINED["sp-bpe"]()
    tokens = {tokenizer.token_bytes(i): i for i in range(259, tokenizer.vocab_size)}
    candidates = pool(tokens[b" "], tokens[b"a"])
    numbers = {}
    for word in ("", ":bytes", ":decoded"):
        session = disambiguation_named(name + word).make(PromptContext(tokenizer, "x", [])).start()
        if isinstance(session, SharingSession):
            session.share(SharedRandomness(bytes(16), "test"))
        numbers[word] = len(session.refine(candidates, iter([])).ids)
    assert numbers == {"": 2, ":bytes": 2, ":decoded": 1}


def test_disambiguation_named_selects_the_method_by_its_name_in_agreements():
    beginning = PromptContext(TOY, "", [])
    assert disambiguation_named("stepwise:oracle").make(beginning).start() is not None
    with pytest.raises(SettingsError, match="the method 'table' is not exact for this tokenizer"):
        disambiguation_named("stepwise:mask").make(beginning)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "x",
            "unknown disambiguation 'x': choose one of basic, lookahead, mwis, none, search",
        ),
        ("", "unknown disambiguation ''"),
        ("search:all", "expected one of search, search:nothing, search:invalid, search:long"),
        ("basic:", "expected one of basic, basic:bytes, basic:decoded, found 'basic:'"),
        ("mwis:ids", "expected one of mwis, mwis:bytes, mwis:decoded, found 'mwis:ids'"),
        ("syncpool:bytes:", "found 'syncpool:bytes:'"),
        ("none:bytes", "expected one of none, found 'none:bytes'"),
        ("stepwise:decoded", "stepwise:mask, .*, found 'stepwise:decoded'"),
    ],
)
def test_disambiguation_named_refuses_other_names(name, message):
    with pytest.raises(SettingsError, match=message):
        disambiguation_named(name)


@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("basic:decoded", Basic),
        ("basic:decoded", partial(Basic, strings="bytes")),
        ("basic", partial(Basic, strings="decoded")),
        ("basic", Mwis),
    ],
)
def test_disambiguation_spec_refuses_another_one_with_a_bundled_name(name, build):
    with pytest.raises(SettingsError, match=f"another name than '{name}', which a bundled"):
        disambiguation_spec(DisambiguationSpec(name, build))


@pytest.mark.parametrize("name", [*DISAMBIGUATIONS, "basic:decoded", "stepwise:oracle"])
def test_disambiguation_spec_takes_what_its_name_makes(name):
    spec = disambiguation_named(name)
    assert disambiguation_spec(spec) is spec


@pytest.mark.parametrize("name", DISAMBIGUATIONS)
def test_make_refuses_modes_when_it_does_not_verify(name):
    beginning = PromptContext(TOY, "", [], mode="viable")
    if name == "stepwise":
        assert disambiguation_named(name).make(beginning).start().text() == ""
    else:
        with pytest.raises(SettingsError, match=r"mode: expected 'prefix' .* found 'viable'"):
            disambiguation_named(name).make(beginning)


@pytest.mark.parametrize(
    ("former", "name"),
    [("DisambiguationKind", "DisambiguationSpec"), ("Plain", "NoDisambiguation")],
)
def test_former_names_of_disambiguations_work_with_a_warning(former, name):
    with pytest.warns(DeprecationWarning, match=f"use ticore.disambiguation.{name}"):
        assert getattr(disambiguation, former) is getattr(disambiguation, name)
