"""One digest for one model, whichever backend asks."""

import dataclasses
import json

import numpy as np
import pytest
from safetensors.numpy import save_file

import ticore
from ticore.backend_kit.checkpoint import Checkpoint, StartToken, Tensors, read_config
from ticore.errors import SettingsError
from ticore.interfaces import PortableModel

CONFIG = {"model_type": "llama", "rope_theta": 500.0}


@pytest.fixture
def checkpoint(tmp_path):
    """`checkpoint(**changes)`: of the same files but for what is named."""

    def make(number=1.0, start=(1, True), **config):
        save_file({"a": np.full(3, number)}, tmp_path / "model.safetensors")
        (tmp_path / "config.json").write_text(json.dumps(CONFIG | config))
        return Checkpoint(read_config(tmp_path), Tensors(tmp_path), StartToken(*start))

    return make


@pytest.mark.parametrize(
    "change",
    [{"number": 2.0}, {"start": (1, False)}, {"start": (2, True)}, {"rope_theta": 1}, {"new": 0}],
)
def test_digest_changes_with_what_shapes_the_logits(checkpoint, change):
    assert checkpoint().digest() != checkpoint(**change).digest()


def test_digest_ignores_fields_that_do_not_describe_the_model(checkpoint):
    notes = {"transformers_version": "5", "dtype": "float32", "_name_or_path": "x"}
    assert checkpoint().digest() == checkpoint(**notes).digest()


def test_digest_ignores_the_chat_template(checkpoint):
    plain = checkpoint()
    assert dataclasses.replace(plain, chat_template="{{ messages }}").digest() == plain.digest()


@pytest.mark.slow
def test_portable_digest_is_the_same_in_every_backend(request):
    pytest.importorskip("torch", reason="one of the backends under test")
    pytest.importorskip("jax", reason="one of the backends under test")
    places = ["tiny-en", "torch:tiny-en", "jax:tiny-en"]
    models = [ticore.load_model(place, dtype="float64") for place in places]
    assert all(isinstance(model, PortableModel) for model in models)
    assert len({model.portable_digest() for model in models}) == 1
    assert len({model.digest() for model in models}) == 3


@pytest.mark.parametrize("place", ["tiny-en", "torch:tiny-en", "jax:tiny-en"])
def test_portable_digest_is_refused_in_less_than_float64(place):
    for package in place.split(":")[:-1]:
        pytest.importorskip(package, reason="the backend under test")
    model = ticore.load_model(place, dtype="float32")
    with pytest.raises(SettingsError, match=r"in float64.* found float32; load it with dtype="):
        model.portable_digest()
