"""The page in a browser: a message there and back, by keyboard, on a desktop and on a phone.

TICORE_SCREENSHOTS=FOLDER keeps pictures of what a person sees.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

import ticore

from .conftest import need

serve = need("server").serve

playwright = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: no browser test"
)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium: no browser test"),
]

PLAIN = "He had come from the town to see the river, and the road was longer than he thought. " * 3
DESKTOP, PHONE = {"width": 1100, "height": 900}, {"width": 360, "height": 740}


@pytest.fixture(scope="module")
def address() -> str:
    found: Queue[str] = Queue()
    settings: dict[str, Any] = {"to_network": False, "at_once": 2, "seconds": 60}
    thread = threading.Thread(
        target=serve, args=("127.0.0.1", 0), kwargs={**settings, "started": found.put}, daemon=True
    )
    thread.start()
    return found.get(timeout=30)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


def picture(page: Any, name: str) -> None:
    if folder := os.environ.get("TICORE_SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


@pytest.mark.parametrize(
    ("name", "size", "scheme"),
    [
        ("desktop-light", DESKTOP, "light"),
        ("desktop-dark", DESKTOP, "dark"),
        ("phone-light", PHONE, "light"),
        ("phone-dark", PHONE, "dark"),
    ],
)
def test_message_there_and_back(
    browser: Any, address: str, tmp_path: Path, name: str, size: Any, scheme: str
) -> None:
    motion = "reduce" if size is PHONE else "no-preference"
    context = browser.new_context(
        viewport=size, color_scheme=scheme, reduced_motion=motion, accept_downloads=True
    )
    page, problems, urls = context.new_page(), list[str](), list[str]()
    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: urls.append(request.url))
    agreement = tmp_path / "agreement.json"

    key, text = write_by_keyboard(page, address, agreement, name)
    read_with_agreement(page, address, agreement, text, name)
    look_at_tokens(page, address, text, key, name)
    look_for_many_keys(page, address, tmp_path, name)
    watch_rollback(page, address, tmp_path / "watermark.json", name)

    fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    assert page.evaluate(fits)
    assert not problems
    assert not any(key in url or "noon" in url for url in urls)
    assert all(url.startswith((address, f"blob:{address}")) for url in urls)
    context.close()


def test_password_there_and_back(browser: Any, address: str) -> None:
    page = browser.new_page(viewport=PHONE)
    urls = list[str]()
    page.on("request", lambda request: urls.append(request.url))
    open_page(page, address)
    page.check('input[name="secret"][value="password"]')
    assert not page.is_visible("#key")
    page.fill("#password", "four words")
    page.fill("#message", "noon")
    picture(page, "password")
    page.click("#write .main")
    page.wait_for_selector("#copy-text:visible", timeout=60_000)
    assert "may be guessed" in page.text_content("#written-facts")
    text = page.text_content("#written")
    page.click('nav a[href="#read"]')
    page.fill("#received", text)
    page.click("#read .main")
    page.wait_for_selector("#read .result:visible", timeout=60_000)
    assert page.text_content("#message-read") == "noon"
    assert "four words" not in page.content()
    assert not any("four" in url for url in urls)
    page.close()


def test_stop_ends_the_steps_that_are_still_shown(browser: Any, address: str) -> None:
    page = browser.new_page()
    minutes = {"progress": {"steps": [["pending", "a"], ["dropped", 1]] * 200}}
    answer = "".join(json.dumps(event) + "\n" for event in (minutes, {"result": {"text": "a"}}))
    page.route("**/do/mark", lambda route: route.fulfill(body=answer))
    open_page(page, address)
    page.goto(f"{address}#watermark")
    page.click("#watermark .main")
    page.wait_for_selector("#marked > del")
    page.click("#watermark .stop")
    page.wait_for_selector("#watermark .status:has-text('Stopped.')", timeout=5_000)
    assert page.is_enabled("#watermark .main")
    assert not page.is_visible("#watermark .result")
    page.close()


def test_fields_fit_what_is_chosen_when_the_browser_comes_back(browser: Any, address: str) -> None:
    page = browser.new_page()
    open_page(page, address)
    page.check('input[name="secret"][value="password"]')
    page.goto(f"{address}#inspect")
    page.check('#inspect input[value="ids"]')
    page.goto(f"{address}ethics")
    page.go_back()
    page.wait_for_selector("#model-about:not(:empty)", state="attached")
    chosen = page.is_checked('#inspect input[value="ids"]')
    assert (page.text_content("#inspected-label") != "Text") == chosen
    page.goto(f"{address}#write")
    chosen = page.is_checked('input[name="secret"][value="password"]')
    assert (page.is_visible("#password"), page.is_visible("#key")) == (chosen, not chosen)
    page.close()


def open_page(page: Any, address: str) -> None:
    page.goto(address)
    page.wait_for_selector("#model-about:not(:empty)")


def write_by_keyboard(page: Any, address: str, agreement: Path, name: str) -> tuple[str, str]:
    """The key and the text; each thing is reached and used without a pointer."""
    open_page(page, address)
    picture(page, f"{name}-start")
    page.focus("#make-key")
    page.keyboard.press("Enter")
    page.wait_for_selector("#agreement-facts:has-text('a new key')")
    key = page.input_value("#key")
    with page.expect_download() as download:
        page.focus("#save-agreement")
        page.keyboard.press("Enter")
    download.value.save_as(agreement)
    assert key in agreement.read_text()

    page.focus("#message")
    page.keyboard.type("meet at noon")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Write the text"
    page.keyboard.press("Enter")
    page.wait_for_selector("#written:visible")
    picture(page, f"{name}-writing")
    page.wait_for_selector("#copy-text:visible", timeout=60_000)
    text = page.text_content("#written")
    assert page.text_content("#spoken") == text  # what a screen reader has said
    picture(page, f"{name}-written")
    return key, text


def read_with_agreement(page: Any, address: str, agreement: Path, text: str, name: str) -> None:
    """The other side: it has the agreement's file alone."""
    open_page(page, address)
    page.goto(f"{address}#read")
    page.set_input_files("#agreement-file", agreement)
    page.wait_for_selector("#forget-agreement:visible")
    page.fill("#received", f"Here it is:\n\n{text}\n")
    page.click("#read .main")
    page.wait_for_selector("#read .result:visible", timeout=60_000)
    assert page.text_content("#message-read") == "meet at noon"
    picture(page, f"{name}-read")
    page.fill("#received", f"{text[:60]} zyxw quite {text[60:]}")
    page.click("#read .main")
    page.wait_for_selector("#read .error:visible", timeout=60_000)
    assert page.query_selector("#read .place mark")
    picture(page, f"{name}-error")


def look_at_tokens(page: Any, address: str, text: str, key: str, name: str) -> None:
    page.goto(f"{address}#inspect")
    page.click("#inspect-example")
    page.wait_for_selector("#inspect .block.differs")
    picture(page, f"{name}-inspect")
    page.goto(f"{address}#detect")
    page.fill("#suspect", text)
    page.fill("#mark-key", key)
    page.click("#detect .main")
    page.wait_for_selector("#detect .verdict:visible")
    assert "No watermark" in page.text_content("#detect .verdict-said")
    picture(page, f"{name}-detect")


def look_for_many_keys(page: Any, address: str, folder: Path, name: str) -> None:
    """By keyboard: a list of configurations, the verdict, and its numbers in a file."""
    key = bytes(range(32))
    writer = ticore.Watermarker(ticore.load_model("tiny-en"), "gumbel", key=key, seed=1)
    text = writer.generate("It was", max_new_tokens=60).text
    listed = folder / "list.json"
    entries = [{"scheme": "gumbel", "key": "5b" * 32}, {"scheme": "gumbel", "key": key.hex()}]
    listed.write_text(json.dumps(entries))
    open_page(page, address)
    page.goto(f"{address}#detect")
    page.focus("#more-detection summary")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "list-file"
    page.set_input_files("#list-file", listed)
    page.wait_for_selector("#list-facts:has-text('2 configurations')")
    page.fill("#suspect", f"{PLAIN} {text} {PLAIN}")
    page.focus("#detect .main")
    page.keyboard.press("Enter")
    page.wait_for_selector("#detect .verdict:is(.found, .part):visible", timeout=60_000)
    assert "has the watermark gumbel, key" in page.text_content("#detect .verdict-said")
    picture(page, f"{name}-detect-many")
    with page.expect_download() as download:
        page.focus("#save-detection")
        page.keyboard.press("Enter")
    saved = json.loads(Path(download.value.path()).read_text())
    assert (saved["configurations"], len(saved["stretches"])) == (2, 1)
    assert key.hex() not in json.dumps(saved) + page.content()
    page.focus("#forget-list")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "list-file"
    assert page.text_content("#list-facts") == ""


def watch_rollback(page: Any, address: str, agreement: Path, name: str) -> None:
    """What is shown in the end is the text; what was taken back can be hidden."""
    page.goto(f"{address}#watermark")
    page.select_option("#mark-length", "short")
    page.select_option("#mark-words", "bold")
    with page.expect_download() as download:
        page.click("#save-mark")  # makes a key, too
    download.value.save_as(agreement)
    page.click("#watermark .main")
    page.wait_for_selector("#marked > :nth-child(9)")
    picture(page, f"{name}-marking")
    page.wait_for_selector("#marked-done:visible", timeout=60_000)
    picture(page, f"{name}-marked")
    page.click("#show-trail")
    text = page.inner_text("#marked")
    agreed = ticore.WatermarkAgreement.load(agreement)
    found = ticore.WatermarkDetector.from_agreement(agreed).detect(text)
    assert found.verdict == "watermarked"
    assert f"{found.token_count} tokens" in page.inner_text("#watermark .report")
