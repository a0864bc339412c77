"""What every language model keeps."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ..errors import CapacityError, PromptError, SettingsError
from ..interfaces import BatchModel, Decoder, GrowingBatchDecoder, LanguageModel, TopDecoder
from ._same import require_same


def some_ids(model: LanguageModel, count: int) -> list[int]:
    """Arbitrary ids, the same for the same count."""
    ids: list[int] = np.random.default_rng(7).integers(0, model.logit_width, count).tolist()
    return ids


class ModelContract:
    """The logits of a model depend on the ids read so far, and on nothing else.

    Needs a fixture `model`: a model that reads empty texts, and whose context is short (33 ids or
    so), because the tests fill it.

    Attributes:
        tolerance: how far logits may differ when the same ids are read in other portions.
        lengths: lengths of prompts to try, such as those around a block size of the backend.

    A complete test file, for a model whose logits count the ids before:

        import numpy as np
        import pytest

        from ticore import load_tokenizer
        from ticore.backend_kit import (
            ArrayDecoder, checked_ids, require_prompt_fits, require_scorable
        )
        from ticore.testing import ModelContract, ModelLimitsContract


        class Counting:
            context_length, eos_ids = 33, frozenset({2})

            def __init__(self):
                self.tokenizer = load_tokenizer("tiny-en")
                self.logit_width = self.tokenizer.vocab_size

            def start(self, prompt_ids):
                ids = checked_ids(prompt_ids, self.logit_width)
                require_prompt_fits(len(ids), self.context_length)
                return ArrayDecoder(self, CountingForward(self), ids, ids)

            def score(self, ids):
                ids = checked_ids(ids, self.logit_width)
                require_scorable(len(ids), self.context_length)
                rows = [self.logits_after(ids[:at]) for at in range(len(ids))]
                return read_only(np.array(rows).reshape(len(ids), self.logit_width))

            def digest(self):
                return "a model that counts"

            def logits_after(self, ids):
                counts = np.bincount(np.array(ids, dtype=int), minlength=self.logit_width)
                return read_only(counts.astype(float))


        class CountingForward:
            def __init__(self, model):
                self.model, self.ids = model, []

            def begin(self, ids):
                self.ids = list(ids)
                return self.model.logits_after(self.ids)

            def push(self, token):
                self.ids.append(token)
                return self.model.logits_after(self.ids)

            def rewind(self, count):
                del self.ids[-count:]


        def read_only(array):
            array.setflags(write=False)
            return array


        class TestCounting(ModelContract, ModelLimitsContract):
            tolerance = 0.0

            @pytest.fixture
            def model(self):
                return Counting()
    """

    tolerance: ClassVar[float]
    lengths: ClassVar[tuple[int, ...]] = ()

    def test_model_has_the_interface(self, model: LanguageModel) -> None:
        assert isinstance(model, LanguageModel)
        assert model.tokenizer.vocab_size <= model.logit_width
        assert model.eos_ids <= set(range(model.logit_width))

    def test_logits_of_steps_equal_score_up_to_the_full_context(self, model: LanguageModel) -> None:
        ids = some_ids(model, model.context_length + 1)
        scored, decoder = model.score(ids), model.start(ids[:1])
        assert scored.shape == (len(ids), model.logit_width)
        for token, row in zip(ids[1:-1], scored[1:-1], strict=True):
            np.testing.assert_allclose(decoder.logits(), row, rtol=0, atol=self.tolerance)
            decoder.push(token)
        np.testing.assert_allclose(decoder.logits(), scored[-1], rtol=0, atol=self.tolerance)
        assert tuple(decoder.ids) == tuple(ids[:-1])

    def test_logits_after_prompts_of_any_length_equal_score(self, model: LanguageModel) -> None:
        ids = some_ids(model, model.context_length + 1)
        scored = model.score(ids)
        for length in (0, 1, *self.lengths, model.context_length):
            logits = model.start(ids[:length]).logits()
            message = f"after a prompt of {length} ids"
            np.testing.assert_allclose(logits, scored[length], 0, self.tolerance, err_msg=message)

    def test_rewind_leaves_no_trace(self, model: LanguageModel) -> None:
        """After pushes and rewinds, logits equal those of the same ids, to the last bit."""

        @settings(deadline=None)
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
                require_same(now, seen.setdefault(tuple(pushed), now), "bytes of the logits")
            direct = model.start(prompt)
            for token in pushed:
                direct.push(token)
            now, fresh = decoder.logits().tobytes(), direct.logits().tobytes()
            require_same(now, fresh, "bytes of the logits")

        check()

    def test_decoders_of_one_model_are_independent(self, model: LanguageModel) -> None:
        one, other = model.start([5]), model.start([5])
        before = other.logits().copy()
        one.push(6)
        assert tuple(other.ids) == (5,)
        assert np.array_equal(other.logits(), before)

    def test_start_and_score_leave_the_list_of_the_caller_unchanged(
        self, model: LanguageModel
    ) -> None:
        ids = [5, 6]
        model.start(ids).push(7)
        model.score(ids)
        assert ids == [5, 6]


class ModelThreadsContract:
    """Several threads may use one model, each with a Decoder of its own.

    Needs a fixture `model`, see `ModelContract`.
    """

    def test_decoders_in_several_threads_give_the_same_bits_as_one_by_one(
        self, model: LanguageModel
    ) -> None:
        ids = some_ids(model, 7)
        prompts = [ids[at:] + ids[:at] for at in range(len(ids))]

        def read(prompt: list[int]) -> list[bytes]:
            decoder, seen = model.start(prompt[:3]), list[bytes]()
            for token in prompt[3:]:
                seen.append(decoder.logits().tobytes())
                decoder.push(token)
            decoder.rewind(2)
            return [*seen, decoder.logits().tobytes(), model.score(prompt).tobytes()]

        expected = [read(prompt) for prompt in prompts]
        with ThreadPoolExecutor(6) as threads:
            require_same(list(threads.map(read, prompts)), expected, "bytes of the logits")


class ModelLimitsContract:
    """A model refuses wrong ids and full contexts, says why, and stays unchanged.

    Needs a fixture `model`, see `ModelContract`. `ticore.backend_kit` has all these checks.
    """

    def test_logits_are_read_only(self, model: LanguageModel) -> None:
        """Of a prompt, of a pushed id, and of short and long scores."""
        decoder = model.start([5])
        given = [decoder.logits(), model.score([5]), model.score(some_ids(model, 20))]
        decoder.push(6)
        for logits in (*given, decoder.logits()):
            with pytest.raises(ValueError, match="read-only"):
                logits[..., 0] = 0

    def test_push_is_refused_when_the_context_is_full(self, model: LanguageModel) -> None:
        most = model.context_length
        decoder = model.start(some_ids(model, most - 1))
        decoder.push(3)
        with pytest.raises(CapacityError, match=f"context full with {most}"):
            decoder.push(3)
        assert len(decoder.ids) == most
        decoder.rewind(1)
        decoder.push(4)

    def test_start_refuses_a_prompt_longer_than_the_context(self, model: LanguageModel) -> None:
        most = model.context_length
        with pytest.raises(PromptError, match=f"at most {most} tokens, found {most + 1}"):
            model.start(some_ids(model, most + 1))

    def test_score_refuses_more_ids_than_the_context_and_one(self, model: LanguageModel) -> None:
        """The last id need not be read, so it needs no room."""
        most = model.context_length + 1
        expected = f"at most {most} tokens to score, found {most + 1}"
        with pytest.raises(CapacityError, match=expected):
            model.score(some_ids(model, most + 1))

    def test_score_of_no_ids_has_no_rows(self, model: LanguageModel) -> None:
        assert model.score([]).shape == (0, model.logit_width)

    def test_ids_without_logits_are_refused(self, model: LanguageModel) -> None:
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
    def test_rewind_refuses_more_ids_than_were_pushed(
        self, model: LanguageModel, count: int
    ) -> None:
        decoder = model.start([5, 6, 7])
        decoder.push(8)
        with pytest.raises(SettingsError, match=f"the 1 pushed tokens, found {count}"):
            decoder.rewind(count)
        assert decoder.ids == (5, 6, 7, 8)


class TopDecoderContract:
    """`top` of a decoder gives the largest of its logits.

    Needs a fixture `model` whose decoders have `top`, see `ticore.interfaces.TopDecoder`:

        class TestMyModel(ModelContract, TopDecoderContract):
            tolerance = 1e-4

            @pytest.fixture
            def model(self):
                return load_model("my-backend:my-model")
    """

    def test_top_gives_the_largest_logits(self, model: LanguageModel) -> None:
        """Of the prompt, and after pushes and rewinds: it is asked for before the logits are."""
        decoder = cast(TopDecoder, model.start([5, 6, 7]))
        self._check_top(decoder, 6)
        decoder.push(5)
        self._check_top(decoder, 6)
        decoder.rewind(1)
        self._check_top(decoder, 6)
        decoder.push(8)
        self._check_top(decoder, 6)
        decoder.push(9)
        decoder.rewind(1)
        decoder.push(6)
        self._check_top(decoder, 6)

    def test_top_gives_all_logits_when_asked_for_as_many(self, model: LanguageModel) -> None:
        decoder = cast(TopDecoder, model.start([5, 6, 7]))
        self._check_top(decoder, model.logit_width)

    def _check_top(self, decoder: TopDecoder, count: int) -> None:
        ids, largest = decoder.top(count)
        assert ids.dtype == np.int64
        assert len(set(ids.tolist())) == len(ids) == count
        assert largest.dtype == decoder.logits().dtype
        np.testing.assert_array_equal(largest, np.sort(decoder.logits())[::-1][:count])
        np.testing.assert_array_equal(largest, decoder.logits()[ids])


class BatchModelContract:
    """A batch gives the logits that its rows have one by one, and refuses what a model refuses.

    Needs a fixture `model` that has `start_batch`, see `ticore.interfaces.BatchModel`:

        class TestMyModel(ModelContract, BatchModelContract):
            tolerance = 1e-4

            @pytest.fixture
            def model(self):
                return load_model("my-backend:my-model")

    Attributes:
        tolerance: how far logits may differ from those of a text that is read by itself.
    """

    tolerance: ClassVar[float]

    def test_rows_have_the_logits_of_texts_read_alone(self, model: BatchModel) -> None:
        prompts = [some_ids(model, 3), [], some_ids(model, 5)[2:]]
        batch = model.start_batch(prompts)
        assert batch is not None
        alone = [model.start(prompt) for prompt in prompts]

        def check(rows: list[int]) -> None:
            for row in rows:
                assert tuple(batch.ids(row)) == tuple(alone[row].ids)
                expected = alone[row].logits()
                np.testing.assert_allclose(batch.logits(row), expected, 0, self.tolerance)

        def push(tokens: dict[int, int]) -> None:
            batch.push(tokens)
            for row, token in tokens.items():
                alone[row].push(token)

        check([0, 1, 2])
        push({0: 5, 1: 6, 2: 7})
        push({2: 4, 0: 8})
        check([0, 1, 2])
        batch.rewind(0, 2)
        alone[0].rewind(2)
        batch.drop(1)
        check([0, 2])
        push({0: 9, 2: 3})
        check([0, 2])

    def test_rows_that_come_later_have_the_logits_of_texts_read_alone(
        self, model: BatchModel
    ) -> None:
        batch = model.start_batch([], rewindable=1)
        if not (isinstance(batch, GrowingBatchDecoder) and batch.grows):
            pytest.skip("its batches take no further rows")
        alone: dict[int, Decoder] = {}

        def add(prompt: list[int]) -> None:
            alone[batch.add(prompt)] = model.start(prompt)

        def push(tokens: dict[int, int]) -> None:
            batch.push(tokens)
            for row, token in tokens.items():
                alone[row].push(token)
            for row, decoder in alone.items():
                assert tuple(batch.ids(row)) == tuple(decoder.ids)
                np.testing.assert_allclose(
                    batch.logits(row), decoder.logits(), 0, self.tolerance, err_msg=f"row {row}"
                )

        add(some_ids(model, 3))
        push({0: 5})
        add([])
        push({1: 6})
        add(some_ids(model, 9))
        push({2: 9, 0: 7, 1: 8})
        for row in (1, 0):
            batch.drop(row)
            del alone[row]
        push({2: 4})
        add([5])
        push({2: 3, 3: 6})
        for row in (2, 3):
            batch.drop(row)
            del alone[row]
        add([7, 8])
        push({4: 9})

    def test_logits_of_a_batch_are_read_only(self, model: BatchModel) -> None:
        batch = model.start_batch([[5], []])
        assert batch is not None
        batch.push({1: 7})
        for row in range(2):
            with pytest.raises(ValueError, match="read-only"):
                batch.logits(row)[0] = 0

    def test_push_of_a_batch_reads_no_row_when_one_is_refused(self, model: BatchModel) -> None:
        """Neither where its context is full, nor where it is given an id without a logit."""
        full, width = some_ids(model, model.context_length), model.logit_width
        prompts = [[5], full, [6]]
        batch = model.start_batch(prompts)
        assert batch is not None
        refused: list[tuple[dict[int, int], type[Exception]]] = [
            ({0: 7, 1: 7}, CapacityError),
            ({2: 7, 0: width}, SettingsError),
            ({0: 7, 2: -1}, SettingsError),
        ]
        for tokens, error in refused:
            with pytest.raises(error):
                batch.push(tokens)
            for row, prompt in enumerate(prompts):
                assert tuple(batch.ids(row)) == tuple(prompt)
        batch.push({0: 7, 2: 8})
        for row, ids in enumerate([[5, 7], full, [6, 8]]):
            expected = model.start(ids).logits()
            np.testing.assert_allclose(batch.logits(row), expected, 0, self.tolerance)

    def test_start_batch_names_the_row_that_is_wrong(self, model: BatchModel) -> None:
        most, width = model.context_length, model.logit_width
        too_long = [5] * (most + 1)
        with pytest.raises(PromptError, match=f"row 1: expected a prompt of at most {most} tokens"):
            model.start_batch([[5], too_long])
        with pytest.raises(SettingsError, match=f"row 0: expected token ids from 0 to {width - 1}"):
            model.start_batch([[width], too_long])

    def test_a_batch_may_have_no_rows(self, model: BatchModel) -> None:
        batch = model.start_batch([])
        assert batch is not None
        batch.push({})
