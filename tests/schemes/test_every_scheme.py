"""Every bundled scheme keeps the contract of schemes."""

import pytest

from ticore.schemes import ALL_SCHEMES, SCHEMES
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
    ("dipmark", "usual"): {},
    ("dipmark", "wide, weak"): {"context": 3, "alpha": 0.3},
}


class TestSchemes(SchemeContract):
    @pytest.fixture(params=SETTINGS, ids=str)
    def scheme(self, request):
        name, _ = request.param
        return ALL_SCHEMES[name](KEY, self.vocab_size, **SETTINGS[request.param])
