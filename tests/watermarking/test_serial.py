"""Models that read one text at a time serve batches as well as those that read many."""

import pytest

from tests.models import ToyBatchModel, ToyModel, ToyTokenizer
from tests.schedules import largest_difference
from ticore.errors import PromptError
from ticore.interfaces import BatchModel
from ticore.watermarking.serial import serial_batch, start_batch

TOKENIZER = ToyTokenizer("abcdef")


class Unable(ToyBatchModel):
    def start_batch(self, prompts, rewindable=None):
        return None


class Serial(ToyModel):
    """A batch made of Decoders, to be compared with what it is made of."""

    def start_batch(self, prompts, rewindable=None):
        return serial_batch(self, prompts, rewindable)


@pytest.mark.parametrize("kind", [Serial, ToyBatchModel])
def test_rows_are_read_as_decoders_read_them(kind):
    for seed in range(20):
        assert largest_difference(kind(TOKENIZER, context=30), seed=seed) == 0


def test_a_model_reads_many_at_once_if_it_can():
    able, unable, plain = (kind(TOKENIZER) for kind in (ToyBatchModel, Unable, ToyModel))
    assert not isinstance(plain, BatchModel)
    for model in (able, unable, plain):
        batch = start_batch(model, [[0], [1, 2]], 1)
        batch.push({0: 3, 1: 4})
        assert (batch.ids(0), batch.ids(1)) == ((0, 3), (1, 2, 4))
    assert (able.passes, unable.passes) == (1, 0)


def test_what_a_model_refuses_is_named():
    class Picky(ToyModel):
        def start(self, prompt_ids):
            if not prompt_ids:
                raise PromptError("expected a prompt")
            return super().start(prompt_ids)

    with pytest.raises(PromptError, match="row 1: expected a prompt"):
        start_batch(Picky(TOKENIZER), [[0], []])
