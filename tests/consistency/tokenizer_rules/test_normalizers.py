"""Whether a normalizer leaves a text alone, decided from its parts."""

import re
import struct
import unicodedata
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sentencepiece import sentencepiece_model_pb2

from tests.support.random_bpe import ALPHABETS, Bpe
from tests.support.tokenizers import TRAINED
from ticore.consistency._tokenizer_rules.characters import is_assigned, is_doubtful
from ticore.consistency._tokenizer_rules.normalizers import (
    _LONGEST_REPLACED,
    Normalization,
    joining,
    require_known,
)
from ticore.consistency._unsupported import Unsupported
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
MARKS = "\u0334\u0327\u0316\u0323\u0301\u0313\u0345\u3099"
runs_of_marks = st.builds(
    lambda base, marks: base + "".join(sorted(marks, key=unicodedata.combining)),
    st.sampled_from("oax\u1100か"),
    st.lists(
        st.builds(str.__mul__, st.sampled_from(MARKS), st.sampled_from([1, 2, 31, 32, 64])),
        max_size=3,
    ).map("".join),
)
texts = (
    runs_of_marks
    | st.sampled_from(ALPHABETS).flatmap(lambda letters: st.text(letters, max_size=6))
    | st.text(
        st.characters(exclude_categories=["Cs", "Cn"]) | st.sampled_from("a \u0301\u0323\u3099"),
        max_size=4,
    )
)
any_normalizer = pytest.mark.parametrize("name", STRUCTURES)


@any_normalizer
@given(some=st.lists(texts, max_size=4))
@example(some=["e", "\u0301"])
@example(some=["e\u0301", "e"])
def test_texts_that_are_kept_together_are_each_kept(name, some):
    normalization = Normalization(STRUCTURES[name])
    if normalization.keeps_together(some):
        assert all(map(normalization.keeps, some))


@pytest.mark.slow
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
@example(left="o" + "\u0316" * 32, right="\u0301")
@example(left="o" + "\u0316" * 300, right="\u0301")
@example(left="o\u0313" + "\u0301" * 70, right="\u0301")
@example(left="o\u0316\u0313", right="\u0301")
@example(left="\u0301" * 40, right="\u0316")
def test_keeps_follows_from_two_parts_and_the_place_where_they_meet(name, left, right):
    normalization = Normalization(STRUCTURES[name])
    parts = normalization.keeps(left) and normalization.keeps(right)
    meeting = normalization.context(left) + normalization.head(right.encode()) if left else ""
    assert normalization.keeps(left + right) == (parts and normalization.keeps(meeting))


@any_normalizer
@given(text=texts)
def test_keeps_holds_when_the_text_stays_as_it_is_inside_another(name, text):
    structure = STRUCTURES[name]
    framed = f"x{text}x"
    stays = structure.normalize is None or structure.normalize(framed) == framed
    normalization = Normalization(structure)
    alone = not text or not normalization.joins(text[0])
    if alone:
        assert normalization.keeps(text) == stays


@any_normalizer
@given(text=texts, unfinished=st.sampled_from([b"", b"\xe3", b"\xe3\x82", b"\xcc"]))
def test_head_is_the_joining_characters_at_the_beginning(name, text, unfinished):
    normalization = Normalization(STRUCTURES[name])
    head = normalization.head(text.encode() + unfinished)
    assert text.startswith(head)
    assert all(map(normalization.joins, head))
    assert text == head or not normalization.joins(text[len(head)])


@any_normalizer
@given(some=st.lists(texts.map(str.encode) | st.sampled_from([b"", b"\xcc", b"\x81a"]), max_size=4))
def test_by_head_gives_the_tokens_with_a_head_by_it(name, some):
    normalization = Normalization(STRUCTURES[name])
    expected = {}
    for token, data in enumerate(some):
        if head := normalization.head(data):
            expected.setdefault(head, []).append(token)
    assert normalization.by_head(some, range(len(some))) == expected


@pytest.mark.slow
@any_normalizer
@given(left=texts, right=texts, more=texts)
@example(left="o\u0316", right="\u0316" * 40, more="\u0301")
@example(left="o\u0313", right="\u0301", more="\u0301")
@example(left="o\u0313", right="\u0301", more="\u0345")
@example(left="a", right=" ", more=" ")
@example(left="a\u1abf\u0378", right="\u0301", more="\u0301")
def test_context_of_a_longer_text_follows_from_the_context_so_far(name, left, right, more):
    normalization = Normalization(STRUCTURES[name])
    context, head = normalization.context(left + right), normalization.head(more.encode())
    assert bool(context) == bool(left + right)
    if normalization.keeps(left) and normalization.keeps(left + right):
        grown = normalization.context(normalization.context(left) + right)
        assert normalization.keeps(grown + head) == normalization.keeps(context + head)


@pytest.mark.parametrize("name", ["nfc", "nfkc", "nfkc squeezed"])
@given(text=texts)
def test_context_of_a_normal_form_has_at_most_two_characters(name, text):
    known = "".join(c for c in text if not is_doubtful(c))
    assert len(Normalization(STRUCTURES[name]).context(known)) <= 2


@pytest.mark.slow
def test_sequences_that_sentencepiece_replaces_are_short():
    """So that the end of a text tells whether it is replaced with what follows."""
    model = sentencepiece_model_pb2.ModelProto.FromString(
        TRAINED["sp-bpe-nfkc"]()._library.serialized_model_proto()
    )
    lengths = lengths_replaced(model.normalizer_spec.precompiled_charsmap)
    assert len(lengths) > 200_000
    assert max(lengths) < _LONGEST_REPLACED


def lengths_replaced(charsmap):
    """How many characters the texts have that a charsmap replaces.

    These are the keys of the double array that it begins with.
    """
    (size,) = struct.unpack_from("<I", charsmap)
    units = np.frombuffer(charsmap, dtype="<u4", count=size // 4, offset=4)
    below = units >> 10 << ((units & 1 << 9) >> 6)
    others = np.arange(1, 256, dtype=np.uint32)
    nodes, lengths, found = np.array([0], dtype=np.uint32), np.array([0]), []
    while len(nodes):
        children = (nodes ^ below[nodes])[:, None] ^ others
        real = (children < len(units)) & (units[children % len(units)] & 0x800000FF == others)
        parents, bytes_ = np.nonzero(real)
        nodes = children[parents, bytes_]
        lengths = lengths[parents] + (others[bytes_] & 0xC0 != 0x80)
        found += lengths[units[nodes] >> 8 & 1 == 1].tolist()
    return found


@pytest.mark.slow
def test_joining_holds_what_a_normal_form_changes_with_the_character_before():
    """No other character changes, or changes place, after any of these."""
    before = ["a", "か", "\u1100", "\uac00", "\u0915", "\u0b47", "=", "\u0301", "\u05b7", "\u3099"]
    joins = joining()
    for code in range(0x80, 0x30000):
        character = chr(code)
        if not is_assigned(character) or character in joins:
            continue
        for form in ("NFC", "NFKC"):
            if unicodedata.normalize(form, character) == character:
                for other in before:
                    assert unicodedata.normalize(form, other + character) == other + character


def test_joining_holds_all_marks_with_a_class_and_what_composes_as_a_second_character():
    found = {chr(code) for code in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}
    for character in filter(is_assigned, map(chr, range(0x80, 0x20000))):
        decomposition = unicodedata.decomposition(character)
        if unicodedata.combining(character):
            found.add(character)
        elif decomposition and not decomposition.startswith("<"):
            found.update(chr(int(part, 16)) for part in decomposition.split()[1:])
    assert joining() == found


def test_joining_holds_what_was_worked_out_by_hand():
    assert {"\u0301", "\u0323", "\u3099", "\u1161", "\u11a8", "\u0b3e"} <= joining()
    assert not {"a", "é", "か", "\u1100", "\uac00", " ", "\uff9e"} & joining()


PLAIN = TokenizerStructure(kind="bpe", atoms="bytes", pieces=np.ones(256, dtype=bool))


@pytest.mark.parametrize("name", ["identity", "nfc", "nfkc", "nmt_nfkc_cf", "nfd", "nfc+lowercase"])
def test_require_known_accepts_a_normalizer_that_is_known(name):
    require_known(replace(PLAIN, normalizer=name))


@pytest.mark.parametrize("name", ["nmt", "user_defined", "nfc+nmt", "nfc+nmt_nfkc"])
def test_require_known_refuses_any_other_normalizer(name):
    why = f"the normalizer {name!r} is not one of those known"
    with pytest.raises(Unsupported, match=re.escape(why)):
        require_known(replace(PLAIN, normalizer=name))
