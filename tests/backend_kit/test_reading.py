"""Any model is read in the same way, whether or not it has more than it must."""

import pytest

import ticore
from tests.support.batch_schedules import largest_difference
from tests.support.toy_models import ToyBatchModel, ToyModel, ToyTokenizer
from ticore.backend_kit._reading import RowDecoder, serial_batch, start_batch, start_decoder
from ticore.errors import PromptError, SettingsError
from ticore.interfaces import BatchModel

TOKENIZER = ToyTokenizer("abcdef")


class Unable(ToyBatchModel):
    def start_batch(self, prompts, rewindable=None):
        return None


class Serial(ToyModel):
    """A batch made of Decoders, to be compared with what it is made of."""

    def start_batch(self, prompts, rewindable=None):
        return serial_batch(self, prompts, rewindable)


@pytest.mark.parametrize("kind", [Serial, ToyBatchModel])
def test_serial_batch_reads_rows_as_decoders_read_them(kind):
    for seed in range(20):
        assert largest_difference(kind(TOKENIZER, context=30), seed=seed) == 0


def test_start_batch_uses_the_models_own_batch_when_it_has_one():
    able, unable, plain = (kind(TOKENIZER) for kind in (ToyBatchModel, Unable, ToyModel))
    assert not isinstance(plain, BatchModel)
    for model in (able, unable, plain):
        batch = start_batch(model, [[0], [1, 2]], 1)
        batch.push({0: 3, 1: 4})
        assert (batch.ids(0), batch.ids(1)) == ((0, 3), (1, 2, 4))
    assert (able.passes, unable.passes) == (1, 0)


def test_start_batch_names_the_row_when_the_model_refuses_it():
    class Picky(ToyModel):
        def start(self, prompt_ids):
            if not prompt_ids:
                raise PromptError("expected a prompt")
            return super().start(prompt_ids)

    with pytest.raises(PromptError, match="row 1: expected a prompt"):
        start_batch(Picky(TOKENIZER), [[0], []])


def test_row_decoder_reads_its_row_alone():
    """Also where its own `push` is used."""
    model = ToyBatchModel(ToyTokenizer("abcd"))
    batch = model.start_batch([[0], [1]])
    row = RowDecoder(batch, 1)
    row.push(2)
    row.push(3)
    row.rewind(1)
    assert (row.ids, batch.ids(0)) == ((1, 2), (0,))
    assert row.logits().tolist() == model.logits_after([1, 2]).tolist()


def test_start_decoder_keeps_no_logits_where_the_model_can_leave_them_out():
    model = ticore.load_model("tiny-en")
    for rewindable, kept in ((None, 4), (0, 1), (2, 3)):
        decoder = start_decoder(model, [5], rewindable)
        for token in (6, 7, 8):
            decoder.push(token)
        assert len(decoder._kept) == kept
        before = start_decoder(model, [5])
        for token in decoder.ids[1 : 5 - kept]:
            before.push(token)
        decoder.rewind(kept - 1)
        assert decoder.logits().tolist() == before.logits().tolist()
        with pytest.raises(SettingsError, match="the 0 pushed tokens, found 1"):
            decoder.rewind(1)


def test_start_decoder_asks_no_model_for_what_it_does_not_take():
    decoder = start_decoder(ToyModel(TOKENIZER), [1], rewindable=0)
    decoder.push(2)
    assert decoder.ids == [1, 2]
