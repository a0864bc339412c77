"""Every bundled disambiguation keeps the contract of disambiguations."""

import pytest

from ticore.disambiguation import DISAMBIGUATIONS, disambiguation_named
from ticore.testing import DisambiguationContract

EVERY = [*DISAMBIGUATIONS, "stepwise:oracle", "basic:decoded", "mwis:decoded", "syncpool:decoded"]


def names(**traits):
    kinds = {name: disambiguation_named(name) for name in EVERY}
    return [
        name
        for name, kind in kinds.items()
        if all(getattr(kind, trait) == value for trait, value in traits.items())
    ]


class TestCertain(DisambiguationContract):
    @pytest.fixture(params=names(certain=True, keyed=False))
    def make_disambiguation(self, request):
        return disambiguation_named(request.param).make


class TestKeyed(DisambiguationContract):
    keyed = True

    @pytest.fixture(params=names(certain=True, keyed=True))
    def make_disambiguation(self, request):
        return disambiguation_named(request.param).make


class TestUncertain(DisambiguationContract):
    certain = False

    @pytest.fixture(params=names(certain=False))
    def make_disambiguation(self, request):
        return disambiguation_named(request.param).make


def test_every_name_is_tested_once():
    tested = names(certain=True, keyed=False) + names(certain=True, keyed=True)
    assert sorted(tested + names(certain=False)) == sorted(EVERY)
