"""Steps that were made before, against the same steps made in full."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.random_bpe import MODES, Bpe, byte_level, engine_of, few_characters
from tests.support.tokenizers import REAL
from ticore.consistency import Verifier
from ticore.consistency._engines.base import Recovery
from ticore.consistency._engines.bpe.character_classes import shapes_for
from ticore.consistency._engines.bpe.known_steps import REFUSED, Forms
from ticore.consistency._engines.bpe.table_engine import TableEngine
from ticore.consistency._tokenizer_rules.added_tokens import AddedTokens
from ticore.consistency._tokenizer_rules.normalizers import Normalization

WORDS = tuple((word.encode(), 0) for word in ("あい", "いい", "日本", "aa", " a", "''", "ab", "12"))


def assert_same(found, full):
    """Two states are the same, but for what is only remembered."""
    assert found.ids == full.ids
    remembered = dict.fromkeys(("tokens", "form", "opened_after"))
    assert found._replace(**remembered) == full._replace(**remembered)
    assert found.form is None or found.form.tail == full.tail


def remembered_steps(engine, tokens):
    """Walk along `tokens`. Each step that is known is compared; returns how many there were."""
    state, known = engine.start(), 0
    for token in tokens:
        found = engine._known_steps.step(state, token)
        if found is not None:
            full = TableEngine.step_if_admitted(engine, state, token)
            assert (full is None) is (found is REFUSED)
            if full is not None:
                assert_same(found, full)
                known += 1
        admitted = engine.step_if_admitted(state, token)
        if admitted is not None:
            state = admitted
            continue
        aside = engine._known_steps.step_aside(state, token)
        full = engine._step_aside_in_full(state, token)
        if aside is not None:
            assert_same(aside, full)
            known += 1
        aside = engine.step_if_refused(state, token)
        if not isinstance(aside, Recovery):  # else no text begins so, and no step is known
            state = aside
    return known


@given(mode=st.sampled_from(MODES), model=byte_level(), data=st.data())
def test_a_known_step_gives_the_state_of_the_step_in_full(mode, model, data):
    tokenizer = model.open()
    tokens = [i for i in model.ids_to_compare() if i not in tokenizer.special_ids]
    whole = [i for i in tokens if tokenizer.token_bytes(i)[:1].isascii()] or tokens
    with few_characters():
        engine, _ = engine_of(tokenizer, mode)
        for ids in (tokens, whole, whole):
            walk = data.draw(st.lists(st.sampled_from(ids), max_size=40))
            remembered_steps(engine, walk)
            remembered_steps(engine, walk * 2)
        text = data.draw(st.text("ab1 '日éİ、\u0301", max_size=12))
        remembered_steps(engine, tokenizer.encode(text) * 3)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("pieces", "tokens"),
    [
        ((b"Sr",), [*b"'aS.SS"]),  # a letter of contractions, after a sign that begins none
        ((b"Sr", b"SSSS"), [*b"S", 257, 227]),  # a token that no text holds, and part of a letter
    ],
)
def test_known_steps_near_what_is_no_contraction(mode, pieces, tokens):
    with few_characters():
        engine, _ = engine_of(Bpe(pattern="cl100k", more=pieces).open(), mode)
        for walk in (tokens, tokens * 2, tokens * 2):
            remembered_steps(engine, walk)


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k"])
@pytest.mark.parametrize("settings", [{}, {"normal_form": "NFC", "added": ("<x>", "。<")}])
def test_steps_in_a_long_part_are_known_the_second_time(pattern, settings):
    tokenizer = Bpe(pattern=pattern, ranks=WORDS, **settings).open()
    engine, _ = engine_of(tokenizer, "prefix")
    tokens = tokenizer.encode("aabaab日本ab12、" * 40)
    remembered_steps(engine, tokens)
    assert remembered_steps(engine, tokens) > len(tokens) // 3


@given(st.text("ab \n", max_size=5), st.text("ab \n", max_size=5))
def test_no_added_token_reaches_from_one_plain_text_into_the_next(before, after):
    """Runs of spaces are added tokens of Phi-2; words that begin with a space are plain there."""
    added = AddedTokens({"  ": 0, "   ": 1, "ab": 2, "\na\n": 3}, [])
    structure = Bpe(pattern="gpt2").open().structure()
    forms = Forms(shapes_for(structure.pretokenizer), Normalization(structure), added)
    assert forms.is_plain(" b")
    if forms.is_plain(before) and forms.is_plain(after):
        assert not added.occurs_in(before + after)
        assert not added.ends_in_beginning(before + after)


def test_no_step_is_known_near_an_added_token_or_a_mark():
    tokenizer = Bpe(pattern="gpt2", ranks=WORDS, normal_form="NFC", added=("<x>",)).open()
    engine, _ = engine_of(tokenizer, "prefix")
    state = engine.start()
    for token in tokenizer.encode("aa<"):
        state = engine.step(state, token)
    assert state.form is None
    assert engine._builder.forms.is_plain("o")
    assert not engine._builder.forms.is_plain("\u0308")
    (aa,) = tokenizer.encode("aa")
    assert engine._known_steps._find_kind(aa) is not None
    mark, rest, sign = tokenizer.encode("\u0308<")
    assert engine._known_steps._find_kind(mark).text == ""  # the mark is unfinished
    assert engine._known_steps._kind_inside(tokenizer.token_bytes(mark), rest) is None
    assert engine._known_steps._find_kind(sign) is None


@pytest.mark.parametrize("name", [name for name in REAL if name in ("gpt2", "qwen2.5", "llama-3")])
def test_known_steps_are_those_in_full_along_real_tokens(name):
    tokenizer = REAL[name]()
    engine = Verifier(tokenizer)._way.engine
    tokens = tokenizer.encode(
        "東京都の人口は、大阪の人口より多い。今天天气很好，我们去公园。 It's 3!\n" * 3
    )
    remembered_steps(engine, tokens)  # the first time they are made in full
    assert remembered_steps(engine, tokens) > len(tokens) // 3
