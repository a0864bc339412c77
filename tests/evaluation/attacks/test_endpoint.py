"""Paraphrase at an endpoint: a server in this process gives the answers of a script."""

import json
import random
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tests.support.endpoints import completion, serving
from ticore.errors import SettingsError, TicoreError
from ticore.evaluation import Attack, EndpointError, EndpointParaphrase
from ticore.evaluation.attacks import SYSTEM
from ticore.evaluation.attacks import _endpoint as endpoint
from ticore.evaluation.attacks._paraphrase import INSTRUCTION

KEY = "sk-secret-0123456789"


@pytest.fixture(autouse=True)
def _environment(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("TOY_KEY", f" {KEY}\n")


def paraphrase(url, **how):
    how = {"key_variable": "TOY_KEY", "pause": 0.001, "attempts": 3, "timeout": 5} | how
    return EndpointParaphrase(url, "toy", draw=random.Random(1), **how)


def test_paraphrase_is_the_text_of_the_completion():
    with serving(completion(" The cat lay down.\n", finish_reason="stop")) as server:
        attack = paraphrase(server.base_url + "/", fields={"temperature": np.float32(0.5)})
        found = attack("The cat sat {down}.")
    assert isinstance(attack, Attack)
    assert (attack.name, found.label) == ("paraphrase by toy", "paraphrase by toy-2026-01-31")
    assert (found.text, found.changed, found.complete) == ("The cat lay down.", 0.5, True)
    ((path, headers, body),) = server.asked
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert headers["Content-Type"] == "application/json"
    assert body.keys() == {"model", "messages", "temperature"}
    assert (body["model"], body["temperature"]) == ("toy", 0.5)
    assert body["messages"][0]["role"] == "user"
    assert body["messages"][0]["content"].endswith("\n\nThe cat sat {down}.")


def test_paraphrase_works_in_several_threads_at_once():
    with serving(completion("done")) as server, ThreadPoolExecutor(4) as pool:
        attack = paraphrase(server.base_url)
        texts = [f"text {n}" for n in range(20)]
        found = list(pool.map(attack, texts))
    assert {each.text for each in found} == {"done"}
    sent = [body["messages"][0]["content"].rpartition("\n")[2] for _, _, body in server.asked]
    assert sorted(sent) == sorted(texts)


def test_paraphrase_accepts_answers_without_optional_fields():
    bare = json.dumps({"choices": [{"message": {"content": "Ünïcode 猫"}}]})
    with serving((200, bare, {})) as server:
        found = paraphrase(server.base_url, key_variable=None, prompt="{text}")("a")
    assert (found.text, found.label, found.complete) == ("Ünïcode 猫", "paraphrase by toy", True)
    assert "Authorization" not in server.asked[0][1]
    with serving(completion("cut", finish_reason="length")) as server:
        assert not paraphrase(server.base_url)("a").complete


@pytest.mark.parametrize("status", [429, 500, 503])
def test_request_is_sent_again_when_the_server_is_busy(status):
    with serving((status, "later", {}), (status, "", {}), completion("done")) as server:
        assert paraphrase(server.base_url)("a").text == "done"
    assert len(server.asked) == 3
    assert server.asked[0][2] == server.asked[2][2]


def test_request_is_sent_again_when_the_connection_breaks():
    with serving((0, '{"choices": [', {}), completion("done")) as server:
        assert paraphrase(server.base_url)("a").text == "done"


def test_pauses_double_or_last_as_long_as_the_server_asks(monkeypatch):
    pauses = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    busy, asks = (429, "", {}), (429, "", {"Retry-After": "7"})
    late, odd = (429, "", {"Retry-After": "86400"}), (503, "", {"Retry-After": "Wed, 21 Oct"})
    with serving(busy, busy, busy, asks, late, odd, completion("done")) as server:
        attack = paraphrase(server.base_url, attempts=7, pause=0.1)
        assert attack("a").text == "done"
    assert all(0.05 * 2**n <= pause <= 0.1 * 2**n for n, pause in enumerate(pauses[:3]))
    assert pauses[3:5] == [7, 60]
    assert 1.6 <= pauses[5] <= 3.2


def test_paraphrase_raises_after_the_last_attempt():
    with (
        serving((500, "out of memory", {})) as server,
        pytest.raises(
            EndpointError, match=r"found status 500 .*out of memory.*, 3 times; check that the"
        ),
    ):
        paraphrase(server.base_url)("a")
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("status", "advice"),
    [(400, "see what it says"), (401, "is the API key"), (404, "base_url right up to /v1")],
)
def test_refusal_is_raised_at_once_and_never_shows_the_key(status, advice):
    said = f'{{"error": "no {KEY}"}}' + " x" * 500
    with (
        serving((status, said, {})) as server,
        pytest.raises(EndpointError, match=advice) as caught,
    ):
        paraphrase(server.base_url)("a")
    assert len(server.asked) == 1
    assert KEY not in str(caught.value)
    assert 'no ***"' in str(caught.value)
    assert len(str(caught.value)) < 600


def test_redirect_is_refused():
    """Another server would be given the key."""
    with serving(completion("theirs")) as other:
        away = (307, "", {"Location": other.base_url})
        with serving(away) as server, pytest.raises(EndpointError, match=other.base_url):
            paraphrase(server.base_url)("a")
    assert other.asked == []


@pytest.mark.parametrize(
    "said",
    [
        "<html>Sign in</html>",
        "",
        "[]",
        "null",
        "{}",
        '{"choices": []}',
        '{"choices": [{}]}',
        '{"choices": [{"message": {"content": null}}]}',
        '{"choices": {"0": 1}}',
        '{"choices": [{"message": {"content": ',
    ],
)
def test_answer_is_refused_when_it_is_not_a_completion(said):
    with (
        serving((200, said, {})) as server,
        pytest.raises(EndpointError, match=r"expected JSON with choices\[0\].message.content"),
    ):
        paraphrase(server.base_url)("a")
    assert len(server.asked) == 1


def test_paraphrase_raises_when_the_server_is_silent():
    with (
        serving((None, "", {})) as server,
        pytest.raises(EndpointError, match=r"no answer within 0.1 seconds, 2 times"),
    ):
        paraphrase(server.base_url, timeout=0.1, attempts=2)("a")
    assert len(server.asked) == 2


def test_paraphrase_raises_when_there_is_no_server():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        with pytest.raises(
            EndpointError, match="2 times; check that the server is running"
        ) as caught:
            paraphrase(url, attempts=2)("a")
    assert isinstance(caught.value, TicoreError)


def test_empty_text_is_not_sent():
    for text in ("", " \n"):
        found = paraphrase("http://127.0.0.1:9/v1")(text)
        assert (found.text, found.changed) == (text, 0)


@pytest.mark.parametrize(
    ("url", "how", "message"),
    [
        ("api.openai.com/v1", {}, "base_url: expected an address such as https"),
        ("file:///etc/passwd", {}, "base_url"),
        ("http://user:pass@host/v1", {}, "base_url"),
        ("https://host/v1?x=1", {}, "base_url"),
        ("https://host/v1", {"prompt": "no place"}, "found it 0 times"),
        ("https://host/v1", {"attempts": 0}, "attempts: expected an integer of at least 1"),
        ("https://host/v1", {"attempts": "3"}, "attempts: expected an integer"),
        ("https://host/v1", {"timeout": 0}, "timeout: expected a finite number above 0"),
        ("https://host/v1", {"timeout": "9"}, "timeout: expected a finite number"),
        ("https://host/v1", {"pause": -1}, "pause: expected 0 seconds or more"),
        ("https://host/v1", {"pause": None}, "pause: expected 0 seconds or more"),
        ("https://host/v1", {"key_variable": "TOY_NONE"}, "environment variable TOY_NONE, found n"),
        ("https://host/v1", {"key_variable": "TOY_ODD"}, "printable ASCII"),
    ],
)
def test_paraphrase_refuses_settings_out_of_range(url, how, message, monkeypatch):
    monkeypatch.setenv("TOY_ODD", "sk-é")
    with pytest.raises(SettingsError, match=message):
        paraphrase(url, **how)


def test_answer_is_refused_when_it_is_too_long(monkeypatch):
    monkeypatch.setattr(endpoint, "_MOST_BYTES", 100)
    expected = pytest.raises(EndpointError, match="at most 100 bytes, found more")
    with serving(completion("a" * 100)) as server, expected:
        paraphrase(server.base_url)("a")
    assert len(server.asked) == 1


def test_answer_is_refused_when_it_is_nested_too_deep():
    expected = pytest.raises(EndpointError, match=r"expected JSON with choices\[0\]")
    with serving((200, "[" * 100_000, {})) as server, expected:
        paraphrase(server.base_url)("a")


@pytest.mark.parametrize("url", ["http://[::1", "http://user:hunter2@host/v1", "http://a/?hunter2"])
def test_base_url_is_refused_without_showing_its_secrets(url):
    with pytest.raises(SettingsError, match="base_url: expected an address") as caught:
        paraphrase(url)
    assert "hunter2" not in str(caught.value)


def test_instruction_is_a_system_message_when_system_is_given():
    with serving(completion("done")) as server:
        paraphrase(server.base_url, system="You paraphrase.")("The cat.")
        paraphrase(server.base_url, system=SYSTEM, prompt="Now: {text}")("The cat.")
        paraphrase(server.base_url)("The cat.")
    sent = [[(m["role"], m["content"]) for m in body["messages"]] for _, _, body in server.asked]
    assert sent[0] == [("system", "You paraphrase."), ("user", "The cat.")]
    assert sent[1] == [("system", SYSTEM), ("user", "Now: The cat.")]
    assert sent[2] == [("user", INSTRUCTION.replace("{text}", "The cat."))]


@pytest.mark.parametrize("name", ["messages", "model"])
def test_fields_are_refused_when_they_would_replace_the_text(name):
    with pytest.raises(SettingsError, match=f"hold the text .*found {name};"):
        paraphrase("http://localhost/v1", fields={name: []})


@pytest.mark.parametrize(
    "address",
    [
        "http://[::1/v1",
        "http://h:port/v1",
        "http://h:99999/v1",
        "http://ü/v1",
        "http://a b/v1",
        "http://h/\x00",
        "http://:80/v1",
        "http://h/ü",
    ],
)
def test_base_url_is_refused_when_it_is_not_an_address(address):
    with pytest.raises(SettingsError, match="base_url: expected an address"):
        paraphrase(address)


@pytest.mark.parametrize("host", ["a..b", f"{'a' * 64}.org"])
def test_paraphrase_raises_when_the_host_cannot_be_looked_up(host):
    with pytest.raises(EndpointError, match=r"expected a"):
        paraphrase(f"http://{host}/v1", attempts=1)("a")


@pytest.mark.parametrize("value", [{1, 2}, float("nan"), b"bytes"])
def test_fields_that_json_lacks_are_refused(value):
    with pytest.raises(SettingsError, match="fields: expected values that JSON has"):
        paraphrase("http://localhost/v1", fields={"extra": value})
