"""Classes of characters: all of them are known from the start."""

import pytest
import regex

from tests.support.pretokenizers import PRETOKENIZERS
from ticore.consistency._tokenizer_rules.characters import is_assigned
from ticore.consistency._tokenizer_rules.expressions import classes
from ticore.consistency._tokenizer_rules.expressions.classes import AMBIGUOUS, CharacterClasses
from ticore.consistency._tokenizer_rules.expressions.syntax import parse
from ticore.consistency._tokenizer_rules.pretokenizers import splitter_for

ASSIGNED = "".join(
    chr(code) for code in (*range(0xD800), *range(0xE000, 0x20000)) if is_assigned(chr(code))
)


@pytest.mark.parametrize("steps", PRETOKENIZERS.values(), ids=PRETOKENIZERS)
def test_every_character_has_a_class_from_the_start(steps):
    found = splitter_for(steps).classes
    known = set(found.members_with_letters)
    few = ASSIGNED[::7]
    assert {*found.with_letters(few), *found.without_letters(few)} <= known | {AMBIGUOUS}
    assert [c for c in few if found.shape(c) == AMBIGUOUS] == [
        c for c in few if found.is_ambiguous(c)
    ]


def test_one_of_each_class_is_read_from_disk_where_it_was_found_before(monkeypatch, tmp_path):
    monkeypatch.setenv("TICORE_CACHE", str(tmp_path))
    sources = ["[一-龥]", r"\p{L}", "a"]
    found = classes._one_of_each(sources)
    assert set(map(bool, map(regex.compile(r"[一-龥]").match, found))) == {True, False}
    with monkeypatch.context() as without:
        without.setattr(classes, "_find_one_of_each", None)
        assert classes._one_of_each(sources[::-1]) == found
    next(tmp_path.glob("classes-*.tables")).write_bytes(b"damaged")
    assert classes._one_of_each(sources) == found


def test_a_class_is_found_where_all_its_rows_begin_with_unassigned_characters():
    """U+3040, U+3097 and U+3098 are unassigned; U+3099 is a mark, and the others are letters."""
    found = CharacterClasses([parse("[一-龥\u3040-ゟ]+"), parse(r"\p{L}")])
    assert found.shape("\u3099") in found.members
    assert found.shape("\u3099") not in (AMBIGUOUS, found.shape("ぁ"), found.shape("!"))


@pytest.mark.parametrize("count", [1, classes._SETS_AT_ONCE, classes._SETS_AT_ONCE + 1, 100])
def test_characters_are_of_one_kind_where_they_lie_in_the_same_sets(count):
    """Set n holds the characters whose code has bit n % 7, or is n."""
    sets = [{chr(c) for c in range(128) if c >> n % 7 & 1 or c == n} for n in range(count)]
    characters = "".join(map(chr, range(128)))
    sources = [f"[{''.join(map(regex.escape, sorted(some)))}]" for some in sets]
    runs = [classes.runs_of(source, characters) for source in sources]
    kinds = classes.kinds_of(len(characters), runs)
    lies_in = [tuple(c in some for some in sets) for c in characters]
    assert len(set(kinds)) == len(set(lies_in)) == len(set(zip(kinds, lies_in, strict=True)))
    assert set(kinds) == set(range(len(set(lies_in))))
