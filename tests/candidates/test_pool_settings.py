"""What is refused of the settings."""

import math

import pytest

from ticore.candidates import PoolSettings
from ticore.errors import SettingsError


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"temperature": 0}, "temperature: expected a finite number of at least 1e-06"),
        ({"temperature": 1e-7}, "temperature: .*found 1e-07"),
        ({"temperature": math.nan}, "temperature"),
        ({"temperature": math.inf}, "temperature"),
        ({"top_k": 0}, "top_k: expected an integer of at least 1, found 0"),
        ({"top_p": 0.0}, "top_p"),
        ({"top_p": 1.1}, "top_p"),
        ({"grid_bits": 13}, "grid_bits: expected an integer from 0 to 12, found 13"),
        ({"weight_bits": 7}, "weight_bits"),
        ({"weight_bits": 33}, "weight_bits"),
    ],
)
def test_pool_settings_refuse_a_value_out_of_range(settings, message):
    with pytest.raises(SettingsError, match=message):
        PoolSettings(**settings)
