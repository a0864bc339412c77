"""A fingerprint changes with the logits, and with nothing else."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

import ticore
from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore.errors import FileError, ModelError
from ticore.evaluation import Fingerprint, fingerprint
from ticore.evaluation._fingerprint import PROBES

LETTERS = sorted(set("".join(PROBES)))
TOKENIZER = ToyTokenizer(["", "the", "th", *LETTERS])


class Shifted(ToyModel):
    """A model whose logits are off by `shift`, and by `parallel` more in one parallel pass."""

    def __init__(self, shift=0.0, parallel=0.0, context=4096):
        super().__init__(TOKENIZER, context=context)
        self._shift, self._parallel = shift, parallel

    def logits_after(self, ids):
        return np.rint(super().logits_after(ids) * 1024) / 1024 + self._shift

    def score(self, ids):
        return super().score(ids) + self._parallel

    def digest(self):
        return "shifted"

    def portable_digest(self):
        return "toy"


def test_agrees_says_whether_the_other_machine_reads_texts():
    here = fingerprint(Shifted())
    assert here.agrees(fingerprint(Shifted()), "same-stack")
    near, far = fingerprint(Shifted(1e-9)), fingerprint(Shifted(1e-3))
    assert not near.agrees(here, "same-stack")
    assert near.agrees(here, "portable")
    assert not far.agrees(here, "portable")


@pytest.mark.parametrize("field", ["model", "portable", "tokenizer", "logits", "pools"])
def test_agrees_compares_only_the_digests_of_its_numerics(field):
    here = fingerprint(Shifted())
    other = replace(here, **{field: "another"})
    assert here.agrees(other, "same-stack") == (field in ("portable", "pools"))
    assert here.agrees(other, "portable") == (field in ("model", "logits"))


def test_fingerprint_has_no_portable_digest_when_the_model_is_not_portable():
    toy = fingerprint(ToyModel(TOKENIZER))
    assert toy.portable is None
    assert toy.agrees(toy, "same-stack")
    assert not toy.agrees(toy, "portable")
    assert fingerprint(ticore.load_model("tiny-en", dtype="float32")).portable is None


@pytest.mark.slow
def test_noise_is_the_difference_to_a_parallel_pass():
    assert fingerprint(Shifted(parallel=0.25)).noise == pytest.approx(0.25)
    assert fingerprint(Shifted()).noise == 0.0
    assert 0 < fingerprint(ticore.load_model("tiny-en")).noise < 1e-9


def test_noise_leaves_out_what_one_pass_alone_excludes():
    class Excludes(Shifted):
        def score(self, ids):
            rows = super().score(ids)
            rows[:, 3] = -np.inf
            return rows

    assert fingerprint(Excludes(parallel=0.25, context=10)).noise == pytest.approx(0.25)


def test_probes_are_cut_to_the_models_context():
    seen = []
    found = fingerprint(Shifted(context=10), lambda done, total: seen.append((done, total)))
    assert found.positions == 4 * 3
    assert seen == [(done, 12) for done in range(1, 13)]
    assert fingerprint(Shifted(context=5)).positions == 4


def test_fingerprint_refuses_logits_that_are_nan():
    with pytest.raises(ModelError, match="NaN"):
        fingerprint(Shifted(np.nan))


def test_from_dict_is_the_inverse_of_asdict():
    here = fingerprint(Shifted())
    assert Fingerprint.from_dict(json.loads(json.dumps(asdict(here))), "f") == here
    assert Fingerprint.from_dict(asdict(here) | {"noise": 0, "portable": None}, "f").noise == 0
    for wrong in (
        None,
        [],
        {},
        asdict(here) | {"more": 1},
        asdict(here) | {"logits": None},
        asdict(here) | {"positions": "1"},
        asdict(here) | {"noise": True},
    ):
        with pytest.raises(
            FileError, match="f: expected a fingerprint with the fields logits, model"
        ):
            Fingerprint.from_dict(wrong, "f")
