"""What the page does: messages in and out, tokens, watermarks, and errors in words."""

from __future__ import annotations

import itertools
import json
import logging
import re
import threading
from pathlib import Path

import pytest

import ticore
from ticore._installed_models import CATALOGUE
from ticore.channels import CHANNELS
from ticore.schemes import ALL_SCHEMES
from ticore.watermarking import WatermarkDetector, Watermarker

from .conftest import TOKEN, Client, MakeClient, need

STATIC = Path(ticore.__file__).parent / "_serve" / "static"
ACTIONS, MOST_BYTES = need("app").ACTIONS, need("app").MOST_BYTES

KEY = "5a" * 32
SHARED = {"key": KEY, "model": "tiny-en", "prompt": "One day", "security": "compact"}


@pytest.fixture(scope="module")
def written(client: Client) -> list[dict]:
    """The events of writing."""
    return client.do("write", **SHARED, channel="chat", message="noon").events


def test_message_comes_back_by_key_and_settings(client: Client, written: list[dict]) -> None:
    text = written[-1]["result"]["text"]
    found = client.do("read", **SHARED, channel="chat", text=text.replace(" ", "  "))
    assert found.result == {"message": "noon", "undone": []}


def test_text_grows_while_it_is_written(written: list[dict]) -> None:
    texts = [event["progress"]["text"] for event in written if "progress" in event]
    assert len(texts) > 2  # events that nobody has read are replaced, so not each token has one
    assert all(later.startswith(text) for text, later in itertools.pairwise(texts))
    assert written[-1]["result"]["text"].startswith(texts[-1])


def test_agreement_is_that_of_the_command_line(client: Client, written: list[dict]) -> None:
    made = client.do("make-agreement", **SHARED, channel="chat").result["agreement"]
    agreement = ticore.Agreement.loads(made)
    stego = ticore.Steganographer.from_agreement(agreement)
    assert stego.extract(written[-1]["result"]["text"]) == b"noon"

    text = client.do("write", agreement=made, message="at six").result["text"]
    assert stego.extract(text) == b"at six"
    opened = client.do("open-agreement", agreement=made)
    assert opened.result["has_key"]
    assert opened.result["prompt"] == "One day"
    assert KEY.encode() not in opened.body


def test_page_says_all_that_an_opened_agreement_asks_of_a_text(client: Client) -> None:
    model = ticore.load_model("tiny-en")
    settings = {"openers": "en", "window": 4, "edits": 0.05}
    agreement = ticore.Steganographer(model, key=ticore.Key.from_hex(KEY), **settings).agreement
    opened = client.do("open-agreement", agreement=agreement.dumps()).result
    assert opened["prompt"] == ""
    assert opened.items() >= {**settings, "openers": "en-1"}.items()
    script = (STATIC / "sharing.js").read_text(encoding="utf-8")
    opening = script.partition("function openAgreement")[2].partition("function showFields")[0]
    for field in opened:
        assert re.search(rf"(found\.|[{{,] ){field}\b", opening), field


def test_password_takes_the_place_of_a_key(client: Client) -> None:
    shared = {**SHARED, "key": None}
    written = client.do("write", **shared, password="noon bell", message="hi").result
    assert written["advice"].startswith("a password of 9 characters may be guessed")
    made = client.do("make-agreement", **shared, password="noon bell")
    assert b"noon bell" not in made.body
    agreement = made.result["agreement"]
    assert not client.do("open-agreement", agreement=agreement).result["has_key"]
    text, given = written["text"], {"agreement": agreement}
    assert client.do("read", **given, password="noon bell", text=text).result["message"] == "hi"
    for wrong in ({"password": ""}, {"key": KEY, "password": "noon bell"}, {}):
        found = client.do("read", **given, **wrong, text=text)
        assert "noon" not in found.error
        assert KEY[:16] not in found.error


def test_wrong_key_and_altered_text_are_errors_in_words(
    client: Client, written: list[dict]
) -> None:
    text = written[-1]["result"]["text"]
    for given in ({"key": "5b" * 32, "text": text}, {"text": text[:40]}, {"text": "Hello"}):
        found = client.do("read", **SHARED | {"channel": "chat"} | given)
        assert found.status == 200
        assert len(found.error) > 20
        assert "Traceback" not in found.error


def test_place_of_a_change_is_shown(client: Client, written: list[dict]) -> None:
    text = written[-1]["result"]["text"]
    changed = f"{text[:30]} <b>zyxw</b> {text[30:]}"
    last = client.do("read", **SHARED, channel="chat", text=changed).events[-1]
    assert last["place"].count("<mark>") == 1
    assert "&lt;b&gt;zyxw" in last["place"]


def test_bytes_that_are_no_text_are_shown_in_hex(client: Client) -> None:
    model = ticore.load_model("tiny-en")
    stego = ticore.Steganographer(model, key=KEY, prompt="One day", security="compact")
    found = client.do("read", **SHARED, text=stego.embed(b"\xff\x00").text)
    assert found.result == {"message": None, "hex": "ff00", "undone": []}


def test_tokens_that_are_read_otherwise_are_marked(client: Client) -> None:
    ids = [377, 1116, 318, 278, 705, 281, 1010, 4033]
    found = client.do("inspect", model="tiny-en", ids=ids).result
    assert not found["consistent"]
    assert "read back as 7" in found["html"]
    found = client.do("inspect", model="tiny-en", text="<b>Cold</b>").result
    assert found["consistent"]
    assert "<b>" not in found["html"]


def test_watermark_is_found_by_agreement_and_by_key(client: Client) -> None:
    agreement = ticore.WatermarkAgreement.new("tiny-en", "gumbel", key=KEY)
    model = ticore.load_model("tiny-en")
    marked = Watermarker.from_agreement(model, agreement).generate(
        "It was late when", max_new_tokens=60
    )
    by_file = client.do("detect", agreement=agreement.dumps(), text=marked.text).result
    by_key = client.do("detect", key=KEY, scheme="gumbel", model="tiny-en", text=marked.text).result
    assert by_file == by_key
    assert by_file["verdict"] == "watermarked"
    assert by_file["sentence"].startswith(
        "This text has the watermark. A text without it would score this high less than once in 1 "
        "billion times; the limit that was set is once in 100,000 times."
    )
    other = client.do("detect", key="5b" * 32, scheme="gumbel", model="tiny-en", text=marked.text)
    assert other.result["sentence"].startswith("No watermark of this key was found.")


def test_list_of_configurations_is_looked_for(client: Client) -> None:
    model = ticore.load_model("tiny-en")
    agreement = ticore.WatermarkAgreement.new("tiny-en", "gumbel", key=KEY)
    marked = Watermarker.from_agreement(model, agreement).generate("It was", max_new_tokens=60)
    entries = [{"scheme": "gumbel", "key": [KEY, "5b" * 32]}, {"key": KEY, "name": "<b>"}]
    listed = json.dumps(entries)
    assert client.do("open-configurations", configurations=listed).result == {"configurations": 3}
    found = client.do("detect", configurations=listed, model="tiny-en", text=marked.text)
    detector = WatermarkDetector.any(
        model.tokenizer, entries, tokenizer_place="tiny-en", tokenizations="places"
    )
    assert found.result["json"] == detector.detect(marked.text).to_dict()
    assert found.result["sentence"].startswith(f"This text has the watermark {detector.names[0]}.")
    assert KEY not in found.body.decode()
    plain = client.do("detect", configurations=listed, model="tiny-en", text="It was a cold day.")
    said = "No watermark of the 3 configurations was found. The text is too short for 1 of them."
    assert plain.result["sentence"].startswith(said)
    long = client.do("detect", configurations=listed, model="tiny-en", text="It was cold. " * 9)
    assert long.result["sentence"].startswith("No watermark of the 3 configurations was found.")


def test_list_counts_each_combination_of_keys_schemes_and_contexts(client: Client) -> None:
    entry = {
        "scheme": ["gumbel", "left_hash"],
        "key": [f"{number:064x}" for number in range(20)],
        "context": [*range(1, 26)],
    }
    opened = client.do("open-configurations", configurations=json.dumps([entry]))
    assert opened.result == {"configurations": 1_000}
    listed = json.dumps([entry, {"key": KEY}])
    for action, others in (("open-configurations", {}), ("detect", {"text": "x"})):
        found = client.do(action, configurations=listed, **others)
        assert found.status == 400
        assert "at most 1,000 configurations, found 1,001" in found.error


def test_search_says_what_it_tried(client: Client) -> None:
    fields = {"key": KEY, "scheme": "gumbel", "model": "tiny-en", "text": "It was a cold morning."}
    assert client.do("detect", **fields).result["json"]["tokenizations"]["tried"] is None
    searched = client.do("detect", tokenizations="search", **fields).result
    assert searched["json"]["tokenizations"]["tried"] is not None
    assert "respelled" in searched["html"]


def test_choices_are_all_that_the_library_has(client: Client) -> None:
    found = client.do("choices").result
    assert {each["place"] for each in found["models"]} >= {"tiny-en", "tiny-ja", "tiny-zh"}
    assert {each["name"] for each in found["channels"]} == CHANNELS.keys() - {"identity"}
    assert {each["name"] for each in found["schemes"]} == ALL_SCHEMES.keys()


def test_restricting_licence_is_named_as_one() -> None:
    restricting = {name for name, known in CATALOGUE.items() if "https://" in known.licence}
    assert restricting == {"gemma3-270m"}


@pytest.mark.parametrize("place", ["torch:/etc", "embedded:/tmp/x", "", "gguf:a", "tiny-xx"])
def test_no_other_place_is_opened(client: Client, place: str) -> None:
    for action, text in (("write", "message"), ("read", "text")):
        found = client.do(action, **SHARED | {"model": place, text: "x"})
        assert "expected one of the models that are installed" in found.error
    made = client.do("make-agreement", **SHARED).result["agreement"]
    if place:
        pasted = made.replace('"tiny-en"', f'"{place}"')
        found = client.do("read", agreement=pasted, text="x")
        assert "expected one of the models that are installed" in found.error


def test_model_that_is_not_offered_is_refused_with_advice_for_every_action(
    client: Client,
) -> None:
    mark = client.do("make-mark-agreement", model="tiny-en", key=KEY).result["agreement"]
    mark = mark.replace('"tiny-en"', '"gguf:a"')
    requests = {
        "inspect": {"model": "gguf:a", "text": "x"},
        "write": {**SHARED, "model": "gguf:a", "message": "x"},
        "mark": {"agreement": mark},
        "detect": {"agreement": mark, "text": "x"},
    }
    for action, fields in requests.items():
        found = client.do(action, **fields)
        assert found.error.endswith("the page opens no other; use the command line, which does")


@pytest.mark.parametrize(
    ("action", "fields", "said"),
    [
        ("write", {"message": "x", "key": ""}, "found none"),
        ("write", {"message": "x", "key": KEY[:-1]}, "found 63 characters"),
        ("write", {"message": "x", "key": "z" * 64}, "found others among them"),
        ("write", {"message": "x", "agreement": KEY}, "open the file that the other side"),
        ("write", {"message": "x", "key": KEY, "channel": "pigeon"}, "channel"),
        ("write", {"message": "x", "password": ""}, "password: expected one, found none"),
        ("write", {"message": "x", "password": "zzzz", "key": KEY}, "found both"),
        ("detect", {"text": "x", "agreement": KEY}, "open the file that the writer"),
        ("detect", {"text": "x", "configurations": "{}"}, "expected a JSON list of 1 to 1,000"),
        ("detect", {"text": "x", "configurations": '[{"key_file": "/k"}]'}, "put the key itself"),
        (
            "detect",
            {"text": "x", "model": "tiny-en", "configurations": '[{"key": "zz"}]'},
            "configuration 1: expected",
        ),
        ("open-configurations", {"configurations": "[]"}, "expected a JSON list of 1 to 1,000"),
        ("detect", {"text": "", "model": "tiny-en", "key": KEY}, "expected"),
        ("inspect", {"text": "", "model": "tiny-en"}, "found none"),
        ("inspect", {"ids": [4096], "model": "tiny-en"}, "found 4096"),
        ("open-agreement", {"agreement": "{}"}, "expected a file of the format"),
    ],
)
def test_error_says_what_was_expected_and_no_key(
    client: Client, action: str, fields: dict[str, object], said: str
) -> None:
    found = client.do(action, **fields)
    assert said in found.error
    for key in (KEY[:16], "zzzz"):
        assert key not in found.error


def test_no_key_and_no_message_in_a_log_or_an_address(
    client: Client, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    client.do("make-agreement", **SHARED)
    client.do("read", **SHARED, text="secret words")
    client.do("read", **SHARED | {"key": KEY[:-2]}, text="secret words")
    client.post("/do/read", f'{{"key": "{KEY}", "secret words": '.encode())
    client.do("make-agreement", **SHARED | {"key": "", "password": "secret words"})
    said = caplog.text + "".join(capfd.readouterr())
    for secret in (KEY[:16], "secret words", TOKEN):
        assert secret not in said
    assert not any("?" in path for path in re.findall(r'"(/[^"]*)"', client.get("/").body.decode()))


def test_unexpected_error_is_words_here_and_a_place_in_the_log(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(fields: object, models: object) -> None:
        raise ZeroDivisionError(f"with {KEY}")

    def works_badly(fields: object, models: object) -> object:
        return lambda watch: broken(fields, models)

    for action in (broken, works_badly):
        monkeypatch.setitem(ACTIONS, "make-key", (action, ()))
        found = client.do("make-key")
        assert found.error.startswith("the program met an error that it does not know")
        assert KEY not in found.error
    assert caplog.text.count("unexpected ZeroDivisionError at") == 2
    assert KEY not in caplog.text


def test_body_is_bounded(client: Client) -> None:
    found = client.post("/do/read", b" " * (MOST_BYTES + 1))
    assert found.status == 413
    assert client.do("read", text="x" * (1 << 19)).status == 400


def test_too_many_jobs_and_too_long_ones_end_in_words(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on = threading.Event()

    def endless(fields: object, models: object) -> object:
        return lambda watch: {"done": goes_on.wait(20)}

    client = make_client(at_once=1, seconds=0.05)
    monkeypatch.setitem(ACTIONS, "write", (endless, ()))
    assert "expected the work to end within 0.05 seconds" in client.do("write").error
    busy = client.do("write")  # the thread of the first one still works
    assert busy.status == 503
    assert "at most 1 at work at a time" in busy.error
    assert "key" in client.do("make-key").result  # what is quickly done needs no such place
    goes_on.set()
