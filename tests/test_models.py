"""The toy model keeps what every model keeps, to the bit."""

import pytest

from tests.model_contract import ReadingContract
from tests.models import ToyModel, ToyTokenizer


class TestToyModel(ReadingContract):
    tolerance = 0.0

    @pytest.fixture
    def model(self):
        return ToyModel(ToyTokenizer("abcdefgh"), context=40)
