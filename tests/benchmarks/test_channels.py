"""The benchmark of channels: all messages take their journeys and are read."""

import pytest

from benchmarks.channels.__main__ import main, summarize
from benchmarks.channels.journeys import JOURNEYS
from ticore.channels import channel_named


@pytest.mark.slow
def test_messages_are_read_after_every_journey(tmp_path, run):
    found = run(main, "--samples", 1, "--size", 1, "--out", tmp_path / "x.jsonl")
    assert found.status == 0
    rows = found.report["journeys"]
    assert [row["journey"] for row in rows] == list(JOURNEYS)
    assert all(row["over_channel_read"] == row["over_channel_written"] == 1 for row in rows)
    assert "mail, quoted twice" in found.printed
    assert len(found.report["costs"]) == 1 + len({row["channel"] for row in rows})


@pytest.mark.parametrize("name", sorted(JOURNEYS))
def test_journeys_change_a_text_and_their_channels_read_it(name):
    text = (
        "Well-known café people said: \"it's fine... isn't it?\"\nA line of more than seventy-two "
        "characters, as mail programs do not like them; and another, 1/2 of it \n"
    )
    journey = JOURNEYS[name]
    channel = channel_named(journey.channel)
    sent = channel.read(text)
    assert channel.read(journey.take(sent)) == sent
    assert journey.take(text) != text


def test_summarize_weighs_texts_by_their_tokens():
    texts = [
        {"bits_per_token": 4.0, "token_count": 10, "kl_filter": 0.0},
        {"bits_per_token": 1.0, "token_count": 30, "kl_filter": 0.4},
    ]
    read = dict.fromkeys(JOURNEYS, 1)
    sample = {"model": "m", "channel": "identity", "count": 2, "texts": texts, "read": read}
    found = summarize([sample])
    assert found["journeys"] == []
    [cost] = found["costs"]
    assert cost["bits_per_token"] == pytest.approx(70 / 40)
    assert cost["kl_filter"] == pytest.approx(0.3)
