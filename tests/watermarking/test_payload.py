"""A text with a payload, from the writer to the reader, through one agreement."""

import numpy as np
import pytest

import ticore
from ticore.errors import SettingsError
from ticore.report import detection_page
from ticore.watermarking import WatermarkAgreement

KEY = bytes(range(32))
PAYLOAD = "0badcafe"


@pytest.fixture(scope="module")
def model():
    return ticore.load_model("tiny-en", dtype="float32")


@pytest.fixture(scope="module")
def agreement():
    made = WatermarkAgreement.new("tiny-en", "gumbel_payload", key=KEY, payload_bits=32)
    return WatermarkAgreement.loads(made.dumps())


def test_payload_is_read_from_the_text(model, agreement):
    assert "payload" not in agreement.settings
    mark = ticore.Watermarker.from_agreement(model, agreement, payload=PAYLOAD, seed=1)
    texts = mark.generate_batch(["The weather in spring", "My dear"], max_new_tokens=120)
    stream = mark.stream("The weather in spring", max_new_tokens=120, seed=5)
    streamed = "".join(stream)
    reader = ticore.WatermarkDetector.from_agreement(agreement, tokenizer=model.tokenizer)
    for text in [*(one.text for one in texts), streamed]:
        found = reader.detect(text)
        assert found.verdict == "watermarked"
        assert found.payload.payload.hex() == found.to_dict()["payload"]["payload"] == PAYLOAD
        assert found.payload.confidence > 0.99
        assert found.scores[found.counted].mean() > 2  # those of the payload that was read
    assert all(one.consistent for one in texts)
    page = detection_page([("a text", found)], model.tokenizer, "Is there a watermark?")
    assert PAYLOAD in page
    both = ticore.WatermarkDetector.any(
        model.tokenizer, [agreement, {"scheme": "gumbel", "key": KEY}]
    ).detect(text)
    assert both.verdict == "watermarked"
    assert both.best.detection.payload.payload.hex() == PAYLOAD


def test_marked_part_of_a_text_is_found(model, agreement):
    mark = ticore.Watermarker.from_agreement(model, agreement, payload=PAYLOAD, seed=2)
    ids = mark.generate("In the old days the", max_new_tokens=150, seed=3).ids
    noise = np.random.default_rng(0).integers(10, 4000, size=(2, 300))
    reader = ticore.WatermarkDetector(model.tokenizer, agreement.make_scheme(4096))
    found = reader.detect_ids([*noise[0], *ids, *noise[1]])
    assert found.segment.p_value < 1e-20
    assert 300 <= found.segment.begin < 340
    assert 430 < found.segment.end < 470


@pytest.mark.parametrize("repeats", ["once", "all"])
def test_payload_is_read_from_each_draw_once(model, repeats):
    """What chance says once is not said more surely by saying it again."""
    ids = np.random.default_rng(1).integers(300, size=40).tolist()
    reader = ticore.WatermarkDetector(model.tokenizer, "gumbel_payload", key=KEY, repeats=repeats)
    for text in (ids, ids * 20):
        assert reader.detect_ids(text).payload.confidence < 0.01


def test_agreement_and_search_refuse_what_they_cannot_do(model):
    with pytest.raises(SettingsError, match="payload: expected none in an agreement"):
        WatermarkAgreement.new("tiny-en", "gumbel_payload", payload=PAYLOAD)
    with pytest.raises(SettingsError, match="tokenizations: expected read or places"):
        ticore.WatermarkDetector(model.tokenizer, "gumbel_payload", key=KEY, tokenizations="search")
    payloads = {"scheme": "gumbel_payload", "key": [KEY, bytes(16)]}
    with pytest.raises(SettingsError, match="tokenizations: expected read or places"):
        ticore.WatermarkDetector.any(model.tokenizer, [payloads], tokenizations="search")
    mixed = [payloads, {"scheme": "gumbel", "key": KEY}]
    ticore.WatermarkDetector.any(model.tokenizer, mixed, tokenizations="search")
