"""The bundled channels and joined ones keep what every channel keeps."""

from __future__ import annotations

from itertools import combinations

import pytest

from tests.support.slow import slow_unless
from ticore.channels import CHANNELS, channel_named
from ticore.testing import ChannelContract

SINGLE = sorted(CHANNELS)
JOINED = ["+".join(pair) for pair in combinations(sorted(set(CHANNELS) - {"identity"}), 2)]
ALL = [*SINGLE, *JOINED, "+".join(SINGLE)]


@pytest.mark.parametrize("channel", slow_unless([*SINGLE, "chat+typographic"], ALL), indirect=True)
class TestBundled(ChannelContract):
    @pytest.fixture
    def channel(self, request):
        return channel_named(request.param)
