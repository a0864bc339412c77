"""The contracts of models notice an answer that is not of the text as it is."""

import numpy as np
import pytest

from ticore.backend_kit._reading import start_batch
from ticore.testing import BatchModelContract, TopDecoderContract


class Model:
    """Random logits of what was read. `top` is right."""

    logit_width, context_length = 32, 12

    def start(self, prompt_ids):
        return Decoder(prompt_ids)


class Decoder:
    def __init__(self, ids):
        self.ids = list(ids)

    def push(self, token):
        self.ids.append(token)

    def rewind(self, count):
        del self.ids[len(self.ids) - count :]

    def logits(self):
        return np.random.default_rng(self.ids).normal(size=Model.logit_width)

    def top(self, count):
        order = np.argsort(-self.logits())[:count]
        return order, self.logits()[order]


class OfLastForwardPass(Decoder):
    """A rewind makes no forward pass, so `top` stays that of the token taken back."""

    def __init__(self, ids):
        super().__init__(ids)
        self.last = super().top(Model.logit_width)

    def push(self, token):
        super().push(token)
        self.last = super().top(Model.logit_width)

    def top(self, count):
        return tuple(each[:count] for each in self.last)


class AtMostHalf(Decoder):
    """`top` gives fewer than it is asked for."""

    def top(self, count):
        return super().top(min(count, Model.logit_width // 2))


class OfEmptyText(Decoder):
    """Before the first push, `top` does not know the prompt."""

    def __init__(self, ids):
        super().__init__(ids)
        self.pushed = False

    def push(self, token):
        super().push(token)
        self.pushed = True

    def top(self, count):
        return super().top(count) if self.pushed else Decoder([]).top(count)


def run_contract(model):
    contract = TopDecoderContract()
    contract.test_top_gives_the_largest_logits(model)
    contract.test_top_gives_all_logits_when_asked_for_as_many(model)


def test_a_right_top_passes():
    run_contract(Model())


@pytest.mark.parametrize("decoder", [OfLastForwardPass, AtMostHalf, OfEmptyText])
def test_a_wrong_top_is_noticed(decoder, monkeypatch):
    monkeypatch.setattr(Model, "start", lambda _, ids: decoder(ids))
    with pytest.raises(AssertionError):
        run_contract(Model())


class BatchModel(Model):
    def __init__(self, batch):
        self.batch = batch

    def start_batch(self, prompts, rewindable=None):
        return self.batch(start_batch(Model(), prompts, rewindable))


class Batch:
    """A right batch."""

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)


class InOrderOfRows(Batch):
    """It gives the ids to the rows in their order, and not to those that they are named for."""

    def push(self, tokens):
        self.inner.push(dict(zip(sorted(tokens), tokens.values(), strict=True)))


class RowByRow(Batch):
    """It finds out that it must refuse an id when other rows have read theirs."""

    def push(self, tokens):
        for row, token in tokens.items():
            self.inner.push({row: token})


def run_batch_contract(batch):
    contract = BatchModelContract()
    contract.tolerance = 0
    contract.test_rows_have_the_logits_of_texts_read_alone(BatchModel(batch))
    contract.test_push_of_a_batch_reads_no_row_when_one_is_refused(BatchModel(batch))


def test_a_right_batch_passes():
    run_batch_contract(Batch)


@pytest.mark.parametrize("batch", [InOrderOfRows, RowByRow])
def test_a_wrong_batch_is_noticed(batch):
    with pytest.raises(AssertionError):
        run_batch_contract(batch)
