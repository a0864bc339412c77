"""`ticore detect`: verdicts in every form, and a line for each text that cannot be scored."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tokenizers import Tokenizer as Tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers

import ticore as library
from ticore.interfaces import Tokenizer
from ticore.report import detection_page
from ticore.schemes import key_fingerprint

from .conftest import Ticore, shell

KEY = bytes(range(32))
SETTINGS = ("--key-file", "K", "--scheme", "gumbel")
PLAIN = "It was a cold morning, and nobody had thought of bringing any wood into the house. " * 2


@pytest.fixture(scope="module")
def marked() -> str:
    model = library.load_model("tiny-en")
    writer = library.Watermarker(model, "gumbel", key=KEY, seed=3)
    return writer.generate("The weather in spring", max_new_tokens=50).text


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return library.load_tokenizer("tiny-en")


@pytest.fixture(autouse=True)
def _files(marked: str) -> None:
    Path("K").touch(mode=0o600)
    Path("K").write_text(KEY.hex() + "\n")
    Path("marked").write_text(marked)
    Path("plain").write_text(PLAIN)
    Path("binary").write_bytes(b"\x7fELF\xff")
    Path("nul").write_bytes("a longer text".encode("utf-16-le"))
    Path("empty").touch()
    Path("short").write_text("a b")
    Path("folder").mkdir()


def test_detect_prints_the_verdict_and_what_it_looked_for(ticore: Ticore) -> None:
    found = ticore("detect", *SETTINGS, "marked")
    assert (found.status, found.err) == (0, "")
    lines = [line.split(maxsplit=1) for line in found.out.decode().splitlines()]
    assert [name for name, _ in lines] == [
        *("verdict", "p-value", "strength", "scored", "uncertain"),
        *("scheme", "key", "tokenizer", "threshold"),
    ]
    assert lines[0][1].strip() == "watermarked"
    assert "gumbel, version 2" in found.out.decode()


def test_detect_says_what_a_tokenizer_loses(ticore: Ticore) -> None:
    vocabulary = {name: i for i, name in enumerate(("[UNK]", *"abcdefghijklmnopqrstuvwxyz"))}
    vocabulary |= {f"##{name}": len(vocabulary) + i for i, name in enumerate(list(vocabulary)[1:])}
    words = Tokenizers(models.WordPiece(vocabulary, unk_token="[UNK]"))
    words.normalizer, words.decoder = normalizers.BertNormalizer(), decoders.WordPiece()
    words.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    words.save("bert.json")
    found = ticore("detect", *SETTINGS, "--tokenizer", "tokenizers:bert.json", "plain")
    assert found.status == 0
    assert "what is left of a text is scored; WordPiece keeps no white space" in found.err


def test_detect_exits_with_0_when_there_is_no_watermark(ticore: Ticore) -> None:
    found = ticore("detect", *SETTINGS, "plain")
    assert (found.status, found.err) == (0, "")
    assert b"no watermark found" in found.out


@pytest.mark.slow
def test_detect_finds_version_1_when_it_is_asked_for(ticore: Ticore) -> None:
    """With the default version no watermark is found, and the output names the version."""
    settings = ("--max-new-tokens", "60", "--seed", "1", "--prompt", "The weather in spring")
    written = ticore("watermark", *SETTINGS, *settings, "--scheme-version", "1")
    found = ticore("detect", *SETTINGS, "--scheme-version", "1", stdin=written.out)
    assert "gumbel, version 1" in found.out.decode()
    assert found.out.decode().splitlines()[0].split() == ["verdict", "watermarked"]
    other = ticore("detect", *SETTINGS, stdin=written.out).out.decode()
    assert "no watermark found" in other
    assert "gumbel, version 2" in other
    refused = ticore("detect", *SETTINGS, "--scheme-version", "3", "plain")
    assert refused.status == 2
    assert "version: expected 1 or 2, found 3" in refused.err


def test_detect_prints_a_row_for_each_text(ticore: Ticore) -> None:
    found = ticore("detect", *SETTINGS, "marked", "plain", "marked")
    rows = found.out.decode().splitlines()
    assert [row.split()[0] for row in rows[:4]] == ["text", "marked", "plain", "marked"]
    assert [row.split() for row in rows[4:6]] == [[], ["scheme", "gumbel,", "version", "2"]]
    assert (found.status, found.err) == (0, "")


def test_detect_warns_of_texts_that_depend_on_each_other(ticore: Ticore) -> None:
    settings = ("--key-file", "K", "--scheme", "unigram")
    found = ticore("detect", *settings, "--html", "page.html", "plain", "marked")
    assert "not independent: see ticore check-key" in found.err
    assert "Note: the false-positive rate holds over all keys" in Path("page.html").read_text()
    assert ticore("detect", *settings, "plain").err == ""
    assert ticore("detect", *SETTINGS, "plain", "marked").err == ""


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_detect_reads_standard_input(ticore: Ticore, marked: str, arguments: list[str]) -> None:
    found = ticore("detect", *SETTINGS, *arguments, stdin=marked.encode())
    assert found == ticore("detect", *SETTINGS, "marked")


def test_detect_prints_a_line_for_each_text_when_json_is_given(
    ticore: Ticore, marked: str, tokenizer: Tokenizer
) -> None:
    found = ticore("detect", *SETTINGS, "--json", "marked", "plain", "--repeats", "all")
    first, second = map(json.loads, found.out.splitlines())
    detector = library.WatermarkDetector(
        tokenizer, "gumbel", key=KEY, repeats="all", tokenizations="places"
    )
    expected = detector.detect(marked)
    assert first == {
        "file": "marked",
        "verdict": "watermarked",
        "p_value": expected.p_value,
        "strength": expected.strength,
        "scored": expected.scored,
        "green": None,
        "token_count": expected.token_count,
        "tokens": expected.token_count,
        "segment": {
            "begin": expected.segment.begin,
            "end": expected.segment.end,
            "p_value": expected.segment.p_value,
        },
        "too_short": False,
        "tokenizations": expected.tokenizations.to_dict(),
        "stretches": [one.to_dict() for one in expected.stretches],
        "scheme": "gumbel",
        "version": 2,
        "key": key_fingerprint(KEY),
        "tokenizer": "tiny-en",
        "fpr": 1e-5,
    }
    assert second["file"] == "plain"


def test_detect_passes_on_the_settings_of_green_lists(ticore: Ticore, tokenizer: Tokenizer) -> None:
    settings = ("--gamma", "0.25", "--delta", "4", "--greens", "exact", "--context", "2")
    found = ticore("detect", "--key-file", "K", *settings, "--json", "plain")
    detector = library.WatermarkDetector(
        tokenizer, key=KEY, gamma=0.25, delta=4.0, greens="exact", context=2
    )
    assert json.loads(found.out)["p_value"] == detector.detect(PLAIN).p_value


def test_detect_shows_the_segment_when_a_text_is_watermarked_in_part(
    ticore: Ticore, marked: str
) -> None:
    words = PLAIN.split()
    many = [words[(i * i + i // 7) % len(words)] + f" {i}" for i in range(12_000)]
    Path("part").write_text(" ".join(many[:6000]) + "\n" + marked + "\n" + " ".join(many[6000:]))
    found = ticore("detect", *SETTINGS, "part")
    assert b"watermarked in part" in found.out
    assert b"best segment" in found.out
    assert b"segment" in ticore("detect", *SETTINGS, "part", "plain").out


ERRORS = [
    ("binary", "binary: expected UTF-8 text, found an invalid byte at offset 4"),
    ("nul", "nul: expected UTF-8 text, found a NUL character at offset 1"),
    ("empty", "empty: expected a text, found nothing"),
    ("short", "short: expected a text of more than 5 tokens"),
    ("folder", "cannot read folder: Is a directory"),
    ("missing\n\x1b", r"cannot read missing\n\x1b: No such file"),
    ("a\udcff", r"cannot read a\udcff: No such file"),
]


@pytest.mark.slow
@pytest.mark.parametrize("json_option", [[], ["--json"]])
@pytest.mark.parametrize(("name", "part"), ERRORS)
def test_detect_says_why_when_a_text_cannot_be_scored(
    ticore: Ticore, name: str, part: str, json_option: list[str]
) -> None:
    ticore("detect", *SETTINGS, *json_option, "--html", "page", name).assert_error(1, part)
    assert not Path("page").exists()


def test_detect_scores_the_other_texts_when_one_cannot_be_scored(ticore: Ticore) -> None:
    names = [name for name, _ in ERRORS]
    found = ticore("detect", *SETTINGS, "--json", names[0], "marked", *names[1:], "plain")
    assert found.status == 1
    assert [json.loads(line)["file"] for line in found.out.splitlines()] == ["marked", "plain"]
    for line, (_, part) in zip(found.err.splitlines(), ERRORS, strict=True):
        assert line.startswith("ticore: ")
        assert part in line


@pytest.mark.parametrize("stdin", [b"", b"a\xff", b"a"])
def test_detect_says_why_when_standard_input_cannot_be_scored(ticore: Ticore, stdin: bytes) -> None:
    ticore("detect", *SETTINGS, stdin=stdin).assert_error(1, "standard input: expected ")


def test_detect_writes_a_page_when_html_is_given(
    ticore: Ticore, tokenizer: Tokenizer, marked: str
) -> None:
    Path("page").write_text("<!DOCTYPE html> an earlier page")
    found = ticore("detect", *SETTINGS, "--html", "page", "marked", "plain")
    detector = library.WatermarkDetector(
        tokenizer, "gumbel", key=KEY, tokenizer_place="tiny-en", tokenizations="places"
    )
    detections = [("marked", detector.detect(marked)), ("plain", detector.detect(PLAIN))]
    title = "Is there a watermark? Scheme gumbel, version 2, tokens of tiny-en"
    assert Path("page").read_text() == detection_page(detections, tokenizer, title)
    assert found == ticore("detect", *SETTINGS, "marked", "plain")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "status", "part"),
    [
        (["-", "-"], 2, "give - once"),
        (["--scheme", "nix"], 2, "unknown scheme 'nix'"),
        (["--gamma", "0.5"], 2, "found --gamma"),
        (["--scheme", "unigram", "--gamma", "0"], 2, "gamma: expected"),
        (["--fpr", "0"], 2, "fpr: expected"),
        (["--repeats", "nix"], 2, "repeats: expected one of once, all"),
        (["--tokenizer", "nix"], 1, "no model is called 'nix'"),
        (["--tokenizer", "sentencepiece:missing"], 1, "missing"),
        (["--key-file", "empty"], 1, "found 0 characters"),
        (["plain", "--html", "missing/page"], 1, "cannot write missing/page"),
        (["plain", "--html", "/dev/null"], 1, "found something else"),
        (["plain", "--limit", "3", "-o", "x"], 2, "--output, --limit: only with --column"),
        (["a.jsonl"], 2, "a.jsonl: name the column with the texts: --column"),
        (["a.PARQUET"], 2, "name the column"),
    ],
)
def test_detect_refuses_wrong_usage(
    ticore: Ticore, arguments: list[str], status: int, part: str
) -> None:
    ticore("detect", *SETTINGS, *arguments).assert_error(status, part)


@pytest.mark.slow
def test_detect_imports_no_framework() -> None:
    heavy = "torch jax flax transformers tokenizers pyarrow ray matplotlib"
    code = (
        "import sys; from ticore._cli.main import run; "
        "status = run(['detect', '--key-file', 'K', 'plain']); "
        f"sys.exit(status or [m for m in '{heavy}'.split() if m in sys.modules] or 0)"
    )
    found = shell(f'"{sys.executable}" -c "{code}"')
    assert (found.status, found.err) == (0, "")


@pytest.mark.parametrize("columns", [30, 80])
def test_detect_prints_nothing_that_a_terminal_obeys(
    ticore: Ticore, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    name = "[b] \x1b[2J:+1: 日本\u202e"
    Path(name).write_text(PLAIN)
    shown = ticore("detect", *SETTINGS, name, "plain").out.decode()
    assert not {"\x1b", "\u202e"} & set(shown)
    assert max(map(len, shown.splitlines())) <= columns


VLLM = {"algorithm": "gumbel", "key": 42, "context_width": 4}


def test_detect_finds_what_the_library_finds_for_another_engine(
    ticore: Ticore, tokenizer: Tokenizer
) -> None:
    detector = library.WatermarkDetector.for_vllm(tokenizer, VLLM)
    expected = detector.detect(PLAIN)
    Path("engine.json").write_text(json.dumps(VLLM))
    Path("engine.json").chmod(0o600)  # it holds a key
    found = ticore("detect", "--scheme", "vllm", "--config", "engine.json", "--json", "plain")
    assert (found.status, found.err) == (0, "")
    row = json.loads(found.out)
    assert row["p_value"] == expected.p_value
    assert row["scored"] == expected.scored


@pytest.mark.parametrize(
    ("arguments", "status", "part"),
    [
        (("--scheme", "vllm"), 2, "give --agreement FILE, or --config FILE for --scheme vllm"),
        (("--scheme", "vllm", "--key-file", "K"), 2, "give --config FILE, and no --key-file"),
        (("--scheme", "gumbel"), 2, "or --key-file FILE for --scheme gumbel"),
        ((), 2, "give --agreement FILE, or --key-file FILE for --scheme left_hash"),
        ((*SETTINGS, "--config", "plain"), 2, "give --key-file FILE, and no --config"),
        (("--scheme", "vllm", "--config", "plain"), 1, "plain: expected a JSON object"),
        (("--scheme", "vllm", "--config", "list"), 1, "expected a JSON object, found something"),
        (("--scheme", "vllm", "--config", "deep"), 1, "not JSON (nested more than"),
        (("--scheme", "vllm", "--config", "no"), 2, "key: expected the writer's key, found none"),
        (("--scheme", "vllm", "--config", "nofile"), 1, "nofile"),
    ],
)
def test_detect_refuses_a_key_or_settings_that_do_not_belong_to_the_scheme(
    ticore: Ticore, arguments: tuple[str, ...], status: int, part: str
) -> None:
    Path("list").write_text("[]")
    Path("no").write_text("{}")
    Path("deep").write_text("[" * 100_000)
    ticore("detect", *arguments, "marked").assert_error(status, part)


def test_a_byte_order_mark_is_no_part_of_the_text(ticore: Ticore, marked: str) -> None:
    Path("with").write_bytes(b"\xef\xbb\xbf" + marked.encode())
    answers = [json.loads(ticore("detect", *SETTINGS, "--json", f).out) for f in ("marked", "with")]
    assert answers[0]["p_value"] == answers[1]["p_value"]


def test_the_page_of_a_list_says_that_texts_depend_on_each_other(ticore: Ticore) -> None:
    Path("list.json").write_text(json.dumps([{"scheme": "unigram", "key": KEY.hex()}]))
    Path("list.json").chmod(0o600)
    found = ticore("detect", "--config", "list.json", "--html", "page.html", "plain", "marked")
    assert found.status == 0
    assert "Note: " in Path("page.html").read_text()
