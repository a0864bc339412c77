"""What every Decoder keeps of its text, whatever reads it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticore.backend_kit._decoder import ArrayDecoder, DeviceDecoder, ManyDecoder
from ticore.errors import CapacityError, InconsistentStateError, SettingsError


class Limits:
    logit_width = 9
    context_length = 6


class Reader:
    """Its logits are the ids that it has read, at the end of zeros; `read` counts them."""

    def __init__(self):
        self.read = 0
        self._ids = []

    def begin(self, ids):
        self.read += len(ids)
        self._ids += ids
        return np.array(([0.0] * 9 + self._ids)[-9:])

    def push(self, token):
        return self.begin([token])

    def rewind(self, count):
        del self._ids[-count:]


class ManyReader(Reader):
    def push_many(self, tokens):
        return np.array([self.push(token) for token in tokens])


class OnDevice(Reader):
    def begin(self, ids):
        return Row(super().begin(ids))


class Row:
    def __init__(self, logits):
        self.whole = logits

    def top(self, count):
        assert count <= Limits.logit_width  # PyTorch refuses more
        ids = np.argsort(-self.whole, kind="stable")[:count]
        return ids, self.whole[ids]


@given(st.lists(st.integers(1, 8) | st.integers(-3, 0), max_size=20))
def test_decoder_logits_follow_from_its_ids_after_any_rewinds(moves):
    """An id is pushed, or that many are rewound."""
    reader, expected, pushes = Reader(), [5], 0
    decoder = ArrayDecoder(Limits(), reader, [5], [1, 5])
    for move in moves:
        if move > 0 and len(expected) < Limits.context_length:
            decoder.push(move)
            expected.append(move)
            pushes += 1
        elif move <= 0 and -move < len(expected):
            decoder.rewind(-move)
            del expected[len(expected) + move :]
        assert tuple(decoder.ids) == tuple(expected)
        assert decoder.logits().tolist() == ([0] * 9 + [1, *expected])[-9:]
    assert reader.read == 2 + pushes


@given(st.lists(st.lists(st.integers(1, 8), min_size=1, max_size=3) | st.integers(0, 3)))
def test_many_ids_at_once_are_as_many_pushes(moves):
    """Ids are pushed, or that many are rewound; `limit_rewinding` keeps the last two."""
    one, other = (ManyDecoder(Limits(), ManyReader(), [5], [1, 5]) for _ in range(2))
    for decoder in (one, other):
        decoder.limit_rewinding(2)
    for move in moves:
        if isinstance(move, int):
            assert _outcome(one.rewind, move) == _outcome(other.rewind, move)
        elif len(one.ids) + len(move) > Limits.context_length:
            with pytest.raises(CapacityError):
                one.push_many(move)
        else:
            rows = one.push_many(move)
            for token, row in zip(move, rows, strict=True):
                other.push(token)
                assert np.array_equal(row, other.logits())
        assert one.ids == other.ids
        assert np.array_equal(one.logits(), other.logits())


def _outcome(rewind, count):
    try:
        rewind(count)
    except SettingsError as error:
        return str(error)
    return ""


def test_decoder_reads_nothing_that_it_refuses():
    reader = Reader()
    decoder = ArrayDecoder(Limits(), reader, [1, 2, 3, 4], [1, 2, 3, 4])
    for wrong in (-1, 9):
        with pytest.raises(SettingsError, match="expected token ids from 0 to 8"):
            decoder.push(wrong)
    for wrong in (-1, 1):
        with pytest.raises(SettingsError, match="expected to rewind between 0 and the 0 pushed"):
            decoder.rewind(wrong)
    decoder.push(5)
    decoder.push(6)
    with pytest.raises(CapacityError, match="found the context full with 6"):
        decoder.push(7)
    assert (reader.read, decoder.ids) == (6, (1, 2, 3, 4, 5, 6))


def test_many_ids_are_refused_before_any_is_read():
    reader = ManyReader()
    decoder = ManyDecoder(Limits(), reader, [1, 2, 3, 4], [1, 2, 3, 4])
    with pytest.raises(SettingsError, match=r"tokens: expected one or more, found \[\]"):
        decoder.push_many([])
    with pytest.raises(CapacityError, match="room for 3 more tokens, found 4 in a context of 6"):
        decoder.push_many([5, 6, 7])
    assert (reader.read, decoder.ids) == (4, (1, 2, 3, 4))
    decoder.push_many([5, 6])
    assert decoder.ids == (1, 2, 3, 4, 5, 6)


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, MemoryError])
def test_decoder_does_not_go_on_after_a_token_that_only_some_layers_read(interruption):
    class Interrupted(ManyReader):
        def push(self, token):
            super().push(token)
            raise interruption

    for push in (lambda decoder: decoder.push(5), lambda decoder: decoder.push_many([5, 6])):
        decoder = ManyDecoder(Limits(), Interrupted(), [1], [1])
        with pytest.raises(interruption):
            push(decoder)
        assert decoder.ids == (1,)
        with pytest.raises(InconsistentStateError, match=r"interrupted or failed.*; start another"):
            push(decoder)


def test_device_decoder_fetches_logits_when_asked():
    decoder = DeviceDecoder(Limits(), OnDevice(), [3], [3])
    decoder.push(8)
    assert decoder.logits()[-2:].tolist() == [3, 8]
    ids, logits = decoder.top(2)
    assert (ids.tolist(), logits.tolist()) == ([8, 7], [8, 3])
    ids, _ = decoder.top(Limits.logit_width + 1)
    assert len(ids) == Limits.logit_width
    decoder.rewind(1)
    assert decoder.top(1)[1].tolist() == [3]
