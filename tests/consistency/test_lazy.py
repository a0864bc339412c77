"""Tables that are filled as they are read."""

from ticore.consistency.lazy import Lazy


def test_what_is_found_is_kept():
    asked = []
    table = Lazy(lambda number: asked.append(number) or chr(number).upper())
    assert [table[97], table[98], table[97]] == ["A", "B", "A"]
    assert "aab".translate(table) == "AAB"
    assert asked == [97, 98]
