"""Whether a normaliser leaves a text alone, decided from its parts."""

import unicodedata
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.consistency.random_bpe import ALPHABETS, Bpe
from tests.tokenizers import TRAINED
from ticore.consistency.normalization import Normalization, joining, obstacle
from ticore.interfaces import TokenizerStructure

NORMAL_FORMS = {
    "identity": Bpe(),
    "nfc": Bpe(normal_form="NFC"),
    "nfkc": Bpe(normal_form="NFKC"),
    "squeezed": Bpe(squeezes=True),
    "nfkc squeezed": Bpe(normal_form="NFKC", squeezes=True),
}
STRUCTURES = {
    **{name: model.open().structure() for name, model in NORMAL_FORMS.items()},
    "sentencepiece": TRAINED["sp-bpe-nfkc"]().structure(),
}
texts = st.sampled_from(ALPHABETS).flatmap(lambda letters: st.text(letters, max_size=6)) | st.text(
    st.characters(exclude_categories=["Cs", "Cn"]) | st.sampled_from("a \u0301\u0323\u3099"),
    max_size=4,
)
any_normalizer = pytest.mark.parametrize("name", STRUCTURES)


@any_normalizer
@given(left=texts, right=texts)
@example(left="a", right="\u0301")
@example(left="a\u0323", right="\u0301")
@example(left="x\u0301", right="\u0323")
@example(left="\u1100", right="\u1161")
@example(left="\uac00", right="\u11a8")
@example(left="\u1100", right="\u11a8")
@example(left="か", right="\u3099")
@example(left="ん", right="\u3099a")
@example(left=" ", right=" ")
@example(left="a", right=" b")
@example(left="\u0b47", right="\u0b3e")
@example(left="o" + "\u0316" * 20, right="\u0301")
def test_a_text_is_kept_if_its_parts_are_and_what_meets_where_they_do(name, left, right):
    normalization = Normalization(STRUCTURES[name])
    parts = normalization.keeps(left) and normalization.keeps(right)
    meeting = normalization.context(left) + normalization.head(right.encode()) if left else ""
    assert normalization.keeps(left + right) == (parts and normalization.keeps(meeting))


@any_normalizer
@given(text=texts)
def test_a_text_is_kept_if_it_stays_in_the_midst_of_others(name, text):
    structure = STRUCTURES[name]
    framed = f"x{text}x"
    stays = structure.normalize is None or structure.normalize(framed) == framed
    alone = not text or not Normalization(structure).joins(text[0])
    if alone:
        assert Normalization(structure).keeps(text) == stays


@any_normalizer
@given(text=texts, unfinished=st.sampled_from([b"", b"\xe3", b"\xe3\x82", b"\xcc"]))
def test_the_head_of_a_text_is_what_joins_in_front(name, text, unfinished):
    normalization = Normalization(STRUCTURES[name])
    head = normalization.head(text.encode() + unfinished)
    assert text.startswith(head)
    assert all(map(normalization.joins, head))
    assert text == head or not normalization.joins(text[len(head)])


@any_normalizer
@given(text=texts)
def test_the_context_of_what_follows_is_the_end_from_what_does_not_join(name, text):
    normalization = Normalization(STRUCTURES[name])
    context = normalization.context(text)
    assert text.endswith(context)
    assert bool(context) == bool(text)
    assert all(map(normalization.joins, context[1:]))
    assert context == text or not normalization.joins(context[0])


def test_what_joins_is_what_some_normal_form_treats_with_its_predecessor():
    """No other character changes, or changes place, behind any of these."""
    before = ["a", "か", "\u1100", "\uac00", "\u0915", "\u0b47", "=", "\u0301", "\u05b7", "\u3099"]
    joins = joining()
    for code in range(0x80, 0x30000):
        character = chr(code)
        if unicodedata.category(character) in ("Cs", "Cn") or character in joins:
            continue
        for form in ("NFC", "NFKC"):
            if unicodedata.normalize(form, character) == character:
                for other in before:
                    assert unicodedata.normalize(form, other + character) == other + character


def test_joining_by_hand():
    assert {"\u0301", "\u0323", "\u3099", "\u1161", "\u11a8", "\u0b3e"} <= joining()
    assert not {"a", "é", "か", "\u1100", "\uac00", " ", "\uff9e"} & joining()


PLAIN = TokenizerStructure(kind="bpe", atoms="bytes", pieces=np.ones(256, dtype=bool))


@pytest.mark.parametrize("name", ["identity", "nfc", "nfkc", "nmt_nfkc_cf"])
def test_normalizers_that_are_known(name):
    assert obstacle(replace(PLAIN, normalizer=name)) == ""


@pytest.mark.parametrize("name", ["nfd", "lowercase", "user_defined", "nfc+lowercase"])
def test_normalizers_that_are_not_known(name):
    why = f"the normaliser {name!r} is not one of those known"
    assert obstacle(replace(PLAIN, normalizer=name)) == why
