"""The benchmark of channels: all messages take their journeys and are read."""

import pytest

import ticore
from benchmarks.channels.__main__ import main, summarize, tables
from benchmarks.channels.journeys import JOURNEYS
from benchmarks.channels.samples import Plan, make_worker
from ticore.channels import channel_named
from ticore.errors import CapacityError


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


def test_messages_that_cannot_be_sent_are_counted_and_the_run_goes_on(monkeypatch):
    real = ticore.Steganographer.embed_batch

    def refusing_the_first(self, messages, prompts, **options):
        others = real(self, messages[1:], prompts=prompts[1:], **options)
        return [CapacityError("no place"), *others]

    monkeypatch.setattr(ticore.Steganographer, "embed_batch", refusing_the_first)
    sample = make_worker(Plan(size=1), {"tiny-en": ["It was"]})("tiny-en", "ascii", 0, 2)
    assert sample["texts"][0] == {"refused": "no place"}
    found = summarize([sample])
    assert {row["over_channel_written"] for row in found["journeys"]} == {1}
    [cost] = found["costs"]
    assert (cost["refused"], cost["texts"]) == (1, 1)
    nothing = summarize([sample | {"texts": sample["texts"][:1]}])
    assert [(each["refused"], each["texts"]) for each in nothing["costs"]] == [(1, 0)]
    assert [table.row_count for table in tables(nothing)] == [0, 1]


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
