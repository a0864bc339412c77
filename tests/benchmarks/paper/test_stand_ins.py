"""Each model stands in for one of the paper's."""

import pytest

from benchmarks.paper.stand_ins import STAND_INS, stand_in
from ticore.errors import SettingsError


def test_known_models_have_a_role_on_every_backend():
    assert stand_in("torch:smollm2", None).role == STAND_INS["smollm2"].role
    assert stand_in("torch:smollm2", None).place == "torch:smollm2"


def test_a_role_can_be_given():
    found = stand_in("torch:/models/Llama-2-7b-hf", "llama-2")
    assert (found.language, found.observation) == ("en", 2)
    assert found.name == "torch__models_Llama-2-7b-hf"


@pytest.mark.parametrize(("place", "role"), [("torch:other", None), ("tiny-en", "gpt-4")])
def test_a_role_must_be_known(place, role):
    with pytest.raises(SettingsError, match="expected --as"):
        stand_in(place, role)


def test_number_format_is_that_of_the_setting_unless_a_part_needs_another():
    model = stand_in("tiny-en", None, "float32")
    ids = model.open().tokenizer.encode("It was late")
    single, double = (
        model.open(*needed).score(ids).astype("float64") for needed in ((), ("float64",))
    )
    assert not (single == double).all()
    assert abs(single - double).max() < 1e-3
    assert (stand_in("tiny-en", None).open().score(ids) == double).all()
