"""Discop: the golden choices, and how much it carries."""

import pytest

from tests.support.codec_runs import normal_pools, randomness_of, utilisation
from tests.support.weight_tables import weights_of
from ticore.codecs import BitSource, DiscopCodec, zeros


@pytest.mark.slow
@pytest.mark.parametrize(("tokens", "share"), [(16, 0.82), (256, 0.92), (4096, 0.95)])
def test_discop_carries_what_its_docstring_says(tokens, share):
    found = utilisation(DiscopCodec(randomness_of(0)), normal_pools(tokens), 3000)
    assert found == pytest.approx(share, abs=0.015)


def test_discop_choices_are_those_of_former_versions():
    """Old texts stay readable: these choices belong to this key and these bits for ever."""
    steps = [weights_of(masses, 32) for masses in ([9, 3, 1], [1, 1], [7, 5, 5, 0], [100, 1])] * 8
    source = BitSource(bytes.fromhex("c0ffee15600d"), 48, zeros)
    writer = DiscopCodec(randomness_of(0)).writer(source)
    golden = "00000010110001000010001000000000"
    assert "".join(str(writer.choose(weights)) for weights in steps) == golden
    assert writer.settled == 22
