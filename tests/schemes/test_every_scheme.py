"""Every bundled scheme keeps the contract of schemes."""

import pytest

from ticore.schemes import SCHEMES
from ticore.testing import SchemeContract

KEY = bytes(range(32))
SETTINGS = {
    **{(name, version): {"version": version} for name in SCHEMES for version in (1, 2)},
    **{
        (name, "exact"): {"gamma": 0.3, "greens": "exact"}
        for name in ("left_hash", "self_hash", "unigram")
    },
    ("left_hash", "wide"): {"context": 3, "greens": "exact"},
    ("self_hash", "wide"): {"context": 5},
    ("gumbel", "narrow"): {"context": 1},
}


class TestSchemes(SchemeContract):
    @pytest.fixture(params=SETTINGS, ids=str)
    def scheme(self, request):
        name, _ = request.param
        return SCHEMES[name](KEY, self.vocab_size, **SETTINGS[request.param])
