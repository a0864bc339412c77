"""BitSource against a string of digits."""

from hypothesis import given
from hypothesis import strategies as st

from ticore.codecs import BitSource, zeros


@given(data=st.binary(max_size=40), cut=st.integers(0, 7), takes=st.lists(st.integers(0, 70)))
def test_take_gives_the_data_and_then_the_tail(data, cut, takes):
    length = max(0, 8 * len(data) - cut)
    digits = "".join(f"{byte:08b}" for byte in data)[:length] + "0" * sum(takes)
    source, at = BitSource(data, length, zeros), 0
    for count in takes:
        assert source.take(count) == int(digits[at : at + count] or "0", 2)
        at += count


def test_take_asks_the_tail_for_the_missing_bits_alone():
    asked = []

    def ones(count):
        asked.append(count)
        return (1 << count) - 1

    source = BitSource(b"\x00", 8, ones)
    assert source.take(12) == 0b1111
    assert source.take(2) == 0b11
    assert asked == [4, 2]
