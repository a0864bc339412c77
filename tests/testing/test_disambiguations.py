"""The contract of disambiguations notices texts that end inside a character, and wrong tokens."""

import numpy as np
import pytest

from ticore.disambiguation import Mwis, Stepwise
from ticore.errors import CapacityError, OutsidePoolError
from ticore.testing import DisambiguationContract


class EndsAnywhere(Mwis):
    """It takes tokens that no character can have, and ends inside one."""

    def start(self):
        session = super().start()
        session.admits = lambda ids: np.ones(len(ids), dtype=bool)
        session.may_end = lambda: True
        return session


class WritesOneToken(Stepwise):
    """It goes on after no token."""

    def start(self):
        session = super().start()

        def push(token):
            raise CapacityError("one token and no more")

        session.push = push
        return session


class KnowsOneMore(Stepwise):
    """It says that the text has one token more."""

    def read(self, text):
        return KnownTokens(super().read(text))


class KnownTokens:
    def __init__(self, received):
        self.received, self.locate = received, received.locate
        self.known_ids = [*received.known_ids, 0]

    @property
    def exhausted(self):
        return self.received.exhausted


def check(disambiguation, tokenizer):
    contract = DisambiguationContract()
    contract.test_reader_finds_the_choices_of_the_writer(disambiguation, tokenizer, "whole")


@pytest.mark.parametrize("tokenizer", ["nested", "bytes"])
@pytest.mark.parametrize("right", [Mwis, Stepwise])
def test_what_is_right_passes(right, tokenizer):
    check(right, tokenizer)


def test_texts_that_end_inside_a_character_are_noticed():
    check(EndsAnywhere, "nested")
    with pytest.raises(OutsidePoolError):
        check(EndsAnywhere, "bytes")


def test_tokens_that_were_not_written_are_noticed():
    with pytest.raises(AssertionError, match="known"):
        check(KnowsOneMore, "nested")


def test_texts_of_no_length_are_noticed():
    with pytest.raises(AssertionError, match="hardly any long text"):
        check(WritesOneToken, "nested")
