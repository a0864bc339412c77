"""The toy model keeps what every model keeps, to the bit."""

import pytest

from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore.testing import ModelContract


class TestToyModel(ModelContract):
    tolerance = 0.0

    @pytest.fixture
    def model(self):
        return ToyModel(ToyTokenizer("abcdefgh"), context=40)
