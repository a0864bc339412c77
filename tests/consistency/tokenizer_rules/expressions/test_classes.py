"""Classes of characters: all of them are known from the start."""

import pytest

from tests.support.pretokenizers import PRETOKENIZERS
from ticore.consistency._tokenizer_rules.characters import is_assigned
from ticore.consistency._tokenizer_rules.expressions.classes import AMBIGUOUS, CharacterClasses
from ticore.consistency._tokenizer_rules.expressions.syntax import parse
from ticore.consistency._tokenizer_rules.pretokenizers import splitter_for

ASSIGNED = "".join(
    chr(code) for code in (*range(0xD800), *range(0xE000, 0x20000)) if is_assigned(chr(code))
)


@pytest.mark.parametrize("steps", PRETOKENIZERS.values(), ids=PRETOKENIZERS)
def test_every_character_has_a_class_from_the_start(steps):
    classes = splitter_for(steps).classes
    known = set(classes.members_with_letters)
    few = ASSIGNED[::7]
    assert {*classes.with_letters(few), *classes.without_letters(few)} <= known | {AMBIGUOUS}
    assert [c for c in few if classes.shape(c) == AMBIGUOUS] == [
        c for c in few if classes.is_ambiguous(c)
    ]


def test_a_class_is_found_where_all_its_rows_begin_with_unassigned_characters():
    """U+3040, U+3097 and U+3098 are unassigned; U+3099 is a mark, and the others are letters."""
    classes = CharacterClasses([parse("[一-龥\u3040-ゟ]+"), parse(r"\p{L}")])
    assert classes.shape("\u3099") in classes.members
    assert classes.shape("\u3099") not in (AMBIGUOUS, classes.shape("ぁ"), classes.shape("!"))
