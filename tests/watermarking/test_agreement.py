"""Agreements on watermarks: what is written with one is found with it, and nothing else fits."""

import dataclasses
import json
import stat

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ticore
from ticore.errors import CredentialError, FileError, SettingsError, WrongTypeError
from ticore.schemes import SCHEMES, key_fingerprint
from ticore.schemes._registry import scheme_defaults
from ticore.watermarking import WatermarkAgreement

KEY = bytes(range(32))
AGREEMENT = WatermarkAgreement.new("tiny-en", "left_hash", key=KEY)


@pytest.fixture(scope="module")
def model():
    return ticore.load_model("tiny-en", dtype="float32")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_detector_finds_what_a_watermarker_with_the_same_agreement_writes(model, scheme):
    more = {} if scheme == "gumbel" else {"gamma": 0.25, "delta": 4.0, "greens": "exact"}
    agreement = WatermarkAgreement.new("tiny-en", scheme, version=1, **more)
    written = ticore.Watermarker.from_agreement(model, agreement, seed=1, top_k=50).generate(
        "The weather in spring is what", max_new_tokens=100
    )
    found = ticore.WatermarkDetector.from_agreement(agreement).detect(written.text)
    assert found.verdict == "watermarked"
    assert (found.scheme, found.version, found.target.tokenizer) == (scheme, 1, "tiny-en")
    assert found.target.key == agreement.key_fingerprint == key_fingerprint(agreement.key)
    plain = ticore.WatermarkDetector(model.tokenizer, scheme, key=agreement.key, version=1, **more)
    assert plain.detect(written.text).p_value == found.p_value


def test_new_states_every_setting_so_that_defaults_may_change():
    assert AGREEMENT.version == 2
    defaults = scheme_defaults("left_hash")
    del defaults["version"]
    assert AGREEMENT.settings == defaults
    assert len({WatermarkAgreement.new("tiny-en").key for _ in range(3)}) == 3


# Made by a release whose schemes had no setting `context`.
OLD = {
    "format": "ticore-watermark-agreement-1",
    "scheme": "left_hash",
    "version": 2,
    "settings": {"gamma": 0.5, "delta": 2.0, "greens": "independent"},
    "repeats": "once",
    "tokenizer": "tiny-en",
    "tokenizer_digest": AGREEMENT.tokenizer_digest,
    "key": KEY.hex(),
}


def test_an_agreement_without_a_context_means_the_usual_one():
    old = WatermarkAgreement.loads(json.dumps(OLD))
    assert json.loads(old.dumps()) == OLD
    ids = list(range(10, 60))
    found, now, wider = (
        ticore.WatermarkDetector.from_agreement(each).detect_ids(ids)
        for each in (old, AGREEMENT, WatermarkAgreement.new("tiny-en", key=KEY, context=2))
    )
    assert (found.scores == now.scores)[1:].all()
    assert wider.scored == found.scored - 1


@given(
    scheme=st.sampled_from(sorted(SCHEMES)),
    key=st.binary(min_size=16, max_size=64),
    repeats=st.sampled_from(["once", "all"]),
    version=st.sampled_from([1, 2]),
)
def test_loads_is_the_inverse_of_dumps(scheme, key, repeats, version):
    made = WatermarkAgreement(
        scheme=scheme,
        version=version,
        settings={"gamma": 0.5},
        repeats=repeats,
        tokenizer="tiny-en",
        tokenizer_digest="ab",
        key=key,
    )
    text = made.dumps()
    assert WatermarkAgreement.loads(text) == WatermarkAgreement.loads(text.encode()) == made
    assert text.isascii()
    assert key.hex() not in repr(made)


def test_save_makes_a_new_file_that_its_owner_alone_can_read(tmp_path):
    path = tmp_path / "mark.json"
    AGREEMENT.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert WatermarkAgreement.load(path) == WatermarkAgreement.load(str(path)) == AGREEMENT
    with pytest.raises(FileError, match=r"expected .* to be a new file"):
        AGREEMENT.save(path)
    with pytest.raises(FileError, match="cannot read"):
        WatermarkAgreement.load(tmp_path / "missing")


def test_from_agreement_refuses_another_tokenizer(model):
    other = json.loads(AGREEMENT.dumps()) | {"tokenizer_digest": "00" * 32}
    wrong = WatermarkAgreement.loads(json.dumps(other))
    part = "tokenizer: expected the one that was agreed on, tiny-en with the digest 000000000000"
    for call in (
        lambda: ticore.WatermarkDetector.from_agreement(wrong),
        lambda: ticore.WatermarkDetector.from_agreement(wrong, tokenizer=model.tokenizer),
        lambda: ticore.Watermarker.from_agreement(model, wrong),
        wrong.open_tokenizer,
    ):
        with pytest.raises(SettingsError, match=part):
            call()
    found = ticore.WatermarkDetector.from_agreement(AGREEMENT, tokenizer=model.tokenizer)
    assert found.detect("It was late.").verdict == "no watermark found"


DOCUMENT = json.loads(AGREEMENT.dumps())


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "expected a file of the format 'ticore-watermark-agreement-1', found something else"),
        ("[" * 100_000, "found something else"),
        (3, "found something else"),
        ("[]", "found something else"),
        (b"\xff", "found something else"),
        (json.dumps(KEY.hex()), "found something else"),
        (json.dumps({"format": KEY.hex()}), "found something else; make one with: ticore agree-"),
        (json.dumps({"format": "ticore-pact-1"}), "found 'ticore-pact-1'; make one with"),
        (json.dumps({**DOCUMENT, "more": 1}), "unknown more); was it written by another version"),
        (
            json.dumps({k: v for k, v in DOCUMENT.items() if k != "repeats"}),
            "missing repeats); was it written",
        ),
        (json.dumps({**DOCUMENT, "key": 3}), "key: expected hex digits, found another type"),
        (json.dumps({**DOCUMENT, "key": KEY.hex()[:-1]}), "a str of 63 characters"),
        (json.dumps({**DOCUMENT, "key": "00"}), "expected a key of 16 to 64 bytes, found 1"),
        (json.dumps({**DOCUMENT, "scheme": ""}), "scheme: expected a non-empty text, found ''"),
        (json.dumps({**DOCUMENT, "tokenizer": 3}), "tokenizer: expected a non-empty text, found 3"),
        (json.dumps({**DOCUMENT, "settings": []}), "settings: expected named values, found"),
        (
            json.dumps({**DOCUMENT, "repeats": "no"}),
            "repeats: expected one of once, all, found 'no'",
        ),
    ],
)
def test_loads_refuses_what_is_not_an_agreement_and_does_not_show_the_key(text, part):
    with pytest.raises(CredentialError, match=r"^the file: ") as caught:
        WatermarkAgreement.loads(text, "the file")
    assert part in str(caught.value)
    assert KEY.hex()[:20] not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("field", "value", "part"),
    [
        ("scheme", "nix", "unknown scheme 'nix'"),
        ("settings", {"gama": 0.5}, "settings that left_hash has, found gama"),
        ("settings", {"gamma": "x"}, "gamma: expected a number"),
        ("version", 3, "version: expected 1 or 2, found 3"),
        ("version", [2], r"version: expected 1 or 2, found \[2\]"),
    ],
)
def test_from_agreement_refuses_settings_that_the_scheme_does_not_have(field, value, part):
    agreement = WatermarkAgreement.loads(json.dumps({**DOCUMENT, field: value}))
    with pytest.raises(SettingsError, match=part):
        ticore.WatermarkDetector.from_agreement(agreement)


@pytest.mark.parametrize("name", ["scheme", "key", "vocab_size", "version", "payload"])
def test_loads_refuses_settings_that_have_a_place_of_their_own(name):
    settings = {**DOCUMENT["settings"], name: 5}
    with pytest.raises(CredentialError, match=f"the agreement: settings: .* found {name}"):
        WatermarkAgreement.loads(json.dumps({**DOCUMENT, "settings": settings}))


def test_new_refuses_wrong_settings():
    for arguments, error in (
        ({"scheme": "nix"}, SettingsError),
        ({"scheme": "gumbel", "gamma": 0.5}, SettingsError),
        ({"key": b"abc"}, CredentialError),
        ({"repeats": "no"}, SettingsError),
    ):
        with pytest.raises(error):
            WatermarkAgreement.new("tiny-en", **arguments)


def test_new_takes_numbers_of_numpy():
    for name, settings in (
        ("gumbel", {"context": np.int64(3)}),
        ("left_hash", {"gamma": np.float32(0.25)}),
        ("dipmark", {"alpha": np.float64(0.3)}),
    ):
        made = WatermarkAgreement.new("tiny-en", name, **settings)
        assert WatermarkAgreement.loads(made.dumps()) == made


def test_an_agreement_can_be_hashed_and_has_pythons_numbers():
    given = dataclasses.replace(AGREEMENT, settings={"gamma": np.float32(0.5)})
    assert WatermarkAgreement.loads(given.dumps()) == given
    assert {AGREEMENT: 1}[dataclasses.replace(AGREEMENT)] == 1


def test_the_name_of_a_file_is_no_agreement(model):
    for make in (
        ticore.WatermarkDetector.from_agreement,
        lambda name: ticore.Watermarker.from_agreement(model, name),
        ticore.Steganographer.from_agreement,
    ):
        with pytest.raises(WrongTypeError, match=r"Agreement, found str; open it with .*\.load"):
            make("mark.json")
