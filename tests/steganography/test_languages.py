"""Messages in the bundled models of each structure: three languages, the same promises."""

import pytest

import ticore
from tests.support.tiny_models import tiny_model
from ticore.consistency import compare

PROMPTS = {
    "tiny-en": "The morning was cold and",
    "tiny-ja": "その朝は寒く、",
    "tiny-zh": "那天早上很冷，",
}
KEY = bytes(range(32))


@pytest.fixture(scope="module", params=list(PROMPTS))
def place(request):
    return request.param


@pytest.fixture(scope="module")
def model(place):
    return tiny_model(place)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["prefix", "open", "viable"])
def test_messages_are_read_in_every_mode(place, model, mode):
    stego = ticore.Steganographer(model, key=KEY, prompt=PROMPTS[place], mode=mode)
    written = stego.embed("会おう 见 meet".encode())
    assert stego.extract(written.text).decode() == "会おう 见 meet"
    assert written.kl_filter < 0.5


@pytest.mark.slow
def test_rollback_leaves_a_consistent_text(place, model):
    """Sampled freely, such texts are often inconsistent; for bytes of characters, for some time."""
    tokenizer = model.tokenizer
    prompt = tokenizer.encode(PROMPTS[place])
    found = ticore.consistent_generate_batch(
        model, [PROMPTS[place]] * 4, observation=10, max_new_tokens=80, seed=1
    )
    assert all(compare(tokenizer, [*prompt, *written.ids]).consistent for written in found)
    assert sum(written.rollbacks + written.temporary for written in found) > 0
