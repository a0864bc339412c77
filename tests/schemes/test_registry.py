"""Schemes by name: bundled ones, those of other packages, and old names."""

import importlib.metadata

import pytest

import ticore
from tests.support.toy_models import ToyBatchModel, ToyTokenizer
from ticore import schemes
from ticore.errors import SettingsError
from ticore.schemes import LeftHash, make_scheme
from ticore.schemes._registry import scheme_defaults

KEY = bytes(range(32))


class Declared(LeftHash):
    """A scheme as another package has it."""

    name = "declared"


@pytest.fixture
def _declared(monkeypatch):
    found = importlib.metadata.EntryPoint("declared", f"{__name__}:Declared", "ticore.schemes")
    monkeypatch.setattr(
        "ticore.registry.entry_points",
        lambda group: [found] if group == "ticore.schemes" else [],
    )
    monkeypatch.setattr(importlib.metadata.EntryPoint, "load", lambda self: Declared)


@pytest.mark.usefixtures("_declared")
def test_schemes_of_other_packages_are_used_by_name():
    assert isinstance(make_scheme("declared", KEY, 50, gamma=0.25), Declared)
    assert scheme_defaults("declared") == scheme_defaults("left_hash")
    model = ToyBatchModel(ToyTokenizer(["a", "b", "c", "d"]))
    watermarker = ticore.Watermarker(model, "declared", key=KEY, seed=1, delta=4.0)
    text = watermarker.generate("ab", max_new_tokens=60)
    detector = ticore.WatermarkDetector(model.tokenizer, "declared", key=KEY)
    found = detector.detect_ids(text.ids)
    assert (found.scheme, found.version) == ("declared", 2)
    with pytest.raises(SettingsError, match="declared, dipmark, gumbel, gumbel_payload"):
        make_scheme("nix", KEY, 50)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Exponential", "ExponentialNull"),
        ("ExactGreens", "HypergeometricNull"),
        ("Greens", "BinomialNull"),
        ("Null", "NullDistribution"),
        ("READERS", "EXTERNAL_SCHEMES"),
        ("reader_named", "external_scheme"),
        ("scheme_named", "make_scheme"),
    ],
)
def test_schemes_gives_old_names_with_a_warning(old, new):
    with pytest.warns(DeprecationWarning, match=rf"use ticore\.schemes\.{new}"):
        assert getattr(schemes, old) is getattr(schemes, new)


def test_evidence_draws_warns_and_gives_draw_ids():
    evidence = LeftHash(KEY, 50).evidence([1, 2, 3])
    with pytest.warns(DeprecationWarning, match=r"use Evidence\.draw_ids"):
        assert evidence.draws is evidence.draw_ids
