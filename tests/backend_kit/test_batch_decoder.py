"""What a batch keeps of its rows, and what it refuses."""

import pytest

from tests.support.toy_models import ToyBatchModel, ToyRows, ToyTokenizer
from ticore.backend_kit._batch_decoder import (
    CheckedBatchDecoder,
    checked_prompts,
    each_row,
    error_names_row,
)
from ticore.errors import (
    CapacityError,
    CredentialError,
    InconsistentStateError,
    PromptError,
    SettingsError,
    WrongTypeError,
)
from ticore.registry import load_model


@pytest.fixture
def model():
    return ToyBatchModel(ToyTokenizer("abcd"), context=5)


@pytest.fixture
def batch(model):
    return model.start_batch([[0], [1, 2], [3, 3, 3, 3]])


def test_batch_rows_are_independent(model, batch):
    batch.push({2: 0, 0: 1})
    batch.push({0: 2})
    batch.rewind(0, 2)
    batch.push({0: 3, 1: 3})
    assert [batch.ids(row) for row in range(3)] == [(0, 3), (1, 2, 3), (3, 3, 3, 3, 0)]
    for row in range(3):
        assert batch.logits(row).tolist() == model.logits_after(batch.ids(row)).tolist()
    assert model.passes == 3


def test_push_of_nothing_runs_no_pass(model, batch):
    batch.push({})
    assert model.passes == 0


@pytest.mark.parametrize(
    ("tokens", "error", "message"),
    [
        ({0: 1, 1: 4}, SettingsError, "row 1: expected token ids from 0 to 3, found 4"),
        ({0: 1, 7: 1}, SettingsError, "one of the rows 0, 1, 2, found 7"),
        ({0: 1, 2: 1}, CapacityError, "row 2: .* context full with 5"),
        ([1, 2, 0], WrongTypeError, r"the id for each row, such as \{0: 17\}, found \[1, 2, 0\]"),
    ],
)
def test_push_reads_no_row_when_one_is_refused(model, batch, tokens, error, message):
    batch.push({2: 0})
    with pytest.raises(error, match=message):
        batch.push(tokens)
    assert batch.ids(0) == (0,)
    assert model.passes == 1


@pytest.mark.parametrize("count", [-1, 2])
def test_rewind_refuses_more_than_was_pushed(batch, count):
    batch.push({1: 0})
    with pytest.raises(SettingsError, match=f"row 1: .* the 1 pushed tokens, found {count}"):
        batch.rewind(1, count)
    assert batch.ids(1) == (1, 2, 0)


def test_batch_keeps_logits_only_as_far_as_rewindable(model):
    batch = model.start_batch([[0]], rewindable=2)
    for token in (1, 2, 3):
        batch.push({0: token})
    with pytest.raises(SettingsError, match="the 2 pushed tokens, found 3"):
        batch.rewind(0, 3)
    batch.rewind(0, 2)
    assert batch.logits(0).tolist() == model.logits_after([0, 1]).tolist()


def test_dropped_row_is_refused(batch):
    batch.drop(1)
    calls = [
        lambda: batch.ids(1),
        lambda: batch.logits(1),
        lambda: batch.push({1: 0}),
        lambda: batch.rewind(1, 0),
        lambda: batch.drop(1),
    ]
    for call in calls:
        with pytest.raises(SettingsError, match="one of the rows 0, 2, found 1"):
            call()
    batch.push({0: 1, 2: 1})
    batch.drop(0)
    batch.drop(2)
    with pytest.raises(SettingsError, match=r"\(none are left\), found 0"):
        batch.logits(0)


def test_batch_leaves_the_callers_lists_alone(model):
    prompts = [[0], [1]]
    model.start_batch(prompts).push({0: 1, 1: 1})
    assert prompts == [[0], [1]]


def test_checked_prompts_names_the_row_that_it_refuses(model):
    assert checked_prompts(model, [[0], (), [3] * 5]) == [[0], [], [3] * 5]
    with pytest.raises(PromptError, match="row 1: expected a prompt of at most 5 tokens, found 6"):
        checked_prompts(model, [[0], [0] * 6])
    with pytest.raises(SettingsError, match="row 0: expected token ids from 0 to 3, found 4"):
        checked_prompts(model, [[4], [0] * 6])


def test_error_names_row_keeps_the_class_of_the_error():
    with pytest.raises(CredentialError, match=r"^row 2: a key$") as raised, error_names_row(2):
        raise CredentialError("a key")
    assert str(raised.value.__cause__) == "a key"
    with pytest.raises(ZeroDivisionError):
        each_row(lambda given: 1 // given, [1, 0])


def test_a_row_that_comes_later_has_a_number_of_its_own(model, batch):
    batch.push({2: 0})
    batch.drop(1)
    assert batch.grows
    assert (batch.add([2, 2]), batch.add([])) == (3, 4)
    batch.push({0: 1, 3: 0})
    assert [batch.ids(row) for row in (0, 2, 3, 4)] == [(0, 1), (3, 3, 3, 3, 0), (2, 2, 0), ()]
    for row in (0, 2, 3, 4):
        assert batch.logits(row).tolist() == model.logits_after(batch.ids(row)).tolist()
    with pytest.raises(PromptError, match="row 5: expected a prompt of at most 5 tokens"):
        batch.add([0] * 6)
    assert batch.add([1]) == 5


def test_add_is_refused_where_the_batch_takes_no_further_rows(model):
    class Rows:
        def push(self, tokens): ...
        def rewind(self, row, count): ...
        def drop(self, row): ...

    batch = CheckedBatchDecoder(model, Rows(), [], [])
    assert not batch.grows
    with pytest.raises(SettingsError, match="start another batch"):
        batch.add([1])


def test_a_row_that_comes_later_is_opened_like_the_others(model):
    read = {}

    class Rows(ToyRows):
        def add(self, row, ids):
            read[row] = ids
            return super().add(row, ids)

    batch = CheckedBatchDecoder(model, Rows(model, []), [], [], opened=lambda ids: [3, *ids])
    assert batch.ids(batch.add([1])) == (1,)
    assert read == {0: [3, 1]}


def test_batch_does_not_go_on_after_tokens_that_only_some_layers_read(model):
    class Interrupted(ToyRows):
        def push(self, tokens):
            super().push(tokens)
            raise KeyboardInterrupt

    batch = CheckedBatchDecoder(model, Interrupted(model, [[1]]), [[1]], [model.logits_after((1,))])
    with pytest.raises(KeyboardInterrupt):
        batch.push({0: 2})
    for call in (lambda: batch.push({0: 2}), lambda: batch.add([1]), lambda: batch.drop(0)):
        with pytest.raises(InconsistentStateError, match="start another Decoder"):
            call()


@pytest.mark.parametrize("rewindable", [-1, 1.5, "2"])
def test_rewindable_is_a_number_of_ids(rewindable):
    model = load_model("tiny-en", dtype="float32")
    for start in (model.start, lambda ids, most: model.start_batch([ids], most)):
        with pytest.raises(SettingsError, match="rewindable: expected an integer of at least 0"):
            start([5], rewindable)
