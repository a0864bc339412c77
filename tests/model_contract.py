"""What every model keeps, as classes of tests that ask for a fixture `model`.

    class TestReading(ReadingContract):
        tolerance = 1e-4

A backend's tests derive from them beside a fixture of that name, or with one of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticore.errors import CapacityError, PromptError, SettingsError
from ticore.interfaces import BatchModel, LanguageModel, TopDecoder


def some_ids(model: LanguageModel, count: int) -> list[int]:
    """The same arbitrary ids whenever as many are asked for."""
    return np.random.default_rng(7).integers(0, model.logit_width, count).tolist()


class ReadingContract:
    """Logits follow from the ids read so far, and from nothing else.

    For models that read empty texts, and whose context holds 33 ids.

    Attributes:
        tolerance: how far logits may differ by how many ids are read at a time.
        lengths: of prompts that this backend reads in another way than those one shorter or longer.
    """

    tolerance: ClassVar[float]
    lengths: ClassVar[tuple[int, ...]] = ()

    def test_keeps_the_interface(self, model: LanguageModel) -> None:
        assert isinstance(model, LanguageModel)
        assert model.tokenizer.vocab_size <= model.logit_width
        assert model.eos_ids <= set(range(model.logit_width))

    def test_steps_equal_score_up_to_the_last_position(self, model: LanguageModel) -> None:
        ids = some_ids(model, model.context_length + 1)
        scored, decoder = model.score(ids), model.start(ids[:1])
        assert scored.shape == (len(ids), model.logit_width)
        for token, row in zip(ids[1:-1], scored[1:-1], strict=True):
            np.testing.assert_allclose(decoder.logits(), row, rtol=0, atol=self.tolerance)
            decoder.push(token)
        np.testing.assert_allclose(decoder.logits(), scored[-1], rtol=0, atol=self.tolerance)
        assert tuple(decoder.ids) == tuple(ids[:-1])

    def test_prompts_of_any_length_equal_score(self, model: LanguageModel) -> None:
        ids = some_ids(model, model.context_length + 1)
        scored = model.score(ids)
        for length in (0, 1, *self.lengths, model.context_length):
            logits = model.start(ids[:length]).logits()
            message = f"after a prompt of {length} ids"
            np.testing.assert_allclose(logits, scored[length], 0, self.tolerance, err_msg=message)

    def test_rewinds_leave_no_trace(self, model: LanguageModel) -> None:
        """Negative numbers rewind, others push; every state is the same bits as a direct one."""

        @given(
            prompt=st.lists(st.integers(0, 49), max_size=9),
            ops=st.lists(st.integers(-6, 49), max_size=24),
        )
        def check(prompt: list[int], ops: list[int]) -> None:
            prompt = [number % model.logit_width for number in prompt]
            decoder, pushed, seen = model.start(prompt), list[int](), dict[tuple[int, ...], bytes]()
            for op in ops:
                if op >= 0:
                    pushed.append(op % model.logit_width)
                    decoder.push(pushed[-1])
                else:
                    count = min(-op, len(pushed))
                    decoder.rewind(count)
                    del pushed[len(pushed) - count :]
                assert tuple(decoder.ids) == (*prompt, *pushed)
                now = decoder.logits().tobytes()
                assert seen.setdefault(tuple(pushed), now) == now
            direct = model.start(prompt)
            for token in pushed:
                direct.push(token)
            assert direct.logits().tobytes() == decoder.logits().tobytes()

        check()

    def test_decoders_are_independent(self, model: LanguageModel) -> None:
        one, other = model.start([5]), model.start([5])
        before = other.logits().copy()
        one.push(6)
        assert tuple(other.ids) == (5,)
        assert np.array_equal(other.logits(), before)

    def test_the_caller_keeps_its_list(self, model: LanguageModel) -> None:
        ids = [5, 6]
        model.start(ids).push(7)
        model.score(ids)
        assert ids == [5, 6]


class LimitsContract:
    """What a backend refuses is refused with its reason, and changes nothing."""

    def test_logits_are_read_only(self, model: LanguageModel) -> None:
        """Those of a prompt, of a pushed id, and of scores short and long."""
        decoder = model.start([5])
        given = [decoder.logits(), model.score([5]), model.score(some_ids(model, 20))]
        decoder.push(6)
        for logits in (*given, decoder.logits()):
            with pytest.raises(ValueError, match="read-only"):
                logits[..., 0] = 0

    def test_full_context(self, model: LanguageModel) -> None:
        most = model.context_length
        decoder = model.start(some_ids(model, most - 1))
        decoder.push(3)
        with pytest.raises(CapacityError, match=f"context full with {most}"):
            decoder.push(3)
        assert len(decoder.ids) == most
        decoder.rewind(1)
        decoder.push(4)

    def test_prompt_too_long(self, model: LanguageModel) -> None:
        most = model.context_length
        with pytest.raises(PromptError, match=f"at most {most} tokens, found {most + 1}"):
            model.start(some_ids(model, most + 1))

    def test_score_too_long(self, model: LanguageModel) -> None:
        """The last id is not read, and needs no room."""
        most = model.context_length + 1
        expected = f"at most {most} tokens to score, found {most + 1}"
        with pytest.raises(CapacityError, match=expected):
            model.score(some_ids(model, most + 1))

    def test_score_of_nothing(self, model: LanguageModel) -> None:
        assert model.score([]).shape == (0, model.logit_width)

    def test_ids_without_logits(self, model: LanguageModel) -> None:
        decoder, width = model.start([5]), model.logit_width
        calls: list[Callable[[int], object]] = [
            decoder.push,
            lambda token: model.start([token]),
            lambda token: model.score([5, token]),
        ]
        for token in (-1, width):
            for call in calls:
                with pytest.raises(SettingsError, match=f"from 0 to {width - 1}, found {token}"):
                    call(token)
        assert decoder.ids == (5,)

    @pytest.mark.parametrize("count", [-1, 2])
    def test_rewinding_more_than_was_pushed(self, model: LanguageModel, count: int) -> None:
        decoder = model.start([5, 6, 7])
        decoder.push(8)
        with pytest.raises(SettingsError, match=f"the 1 pushed tokens, found {count}"):
            decoder.rewind(count)
        assert decoder.ids == (5, 6, 7, 8)


class TopContract:
    """The largest logits, fetched alone, are those among all."""

    def test_the_largest_logits_alone(self, model: LanguageModel) -> None:
        decoder: TopDecoder = model.start([5, 6, 7])
        decoder.push(5)
        ids, largest = decoder.top(6)
        assert (ids.dtype, largest.dtype) == (np.int64, decoder.logits().dtype)
        np.testing.assert_array_equal(largest, np.sort(decoder.logits())[::-1][:6])
        np.testing.assert_array_equal(largest, decoder.logits()[ids])


class BatchContract:
    """What a batch refuses, and what it does where there is nothing to do.

    What it computes is compared with Decoders by `tests.schedules`.
    """

    def test_logits_are_read_only(self, model: BatchModel) -> None:
        batch = model.start_batch([[5], []])
        assert batch is not None
        batch.push({1: 7})
        for row in range(2):
            with pytest.raises(ValueError, match="read-only"):
                batch.logits(row)[0] = 0

    def test_what_is_wrong_names_the_row(self, model: BatchModel) -> None:
        most, width = model.context_length, model.logit_width
        too_long = [5] * (most + 1)
        with pytest.raises(PromptError, match=f"row 1: expected a prompt of at most {most} tokens"):
            model.start_batch([[5], too_long])
        with pytest.raises(SettingsError, match=f"row 0: expected token ids from 0 to {width - 1}"):
            model.start_batch([[width], too_long])

    def test_no_rows(self, model: BatchModel) -> None:
        batch = model.start_batch([])
        assert batch is not None
        batch.push({})
