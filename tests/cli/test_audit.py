"""`ticore audit`: the same findings for people and for programs."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from ticore._cli.settings import DEFAULT_MODEL
from ticore._support import table_cache
from ticore.backend_kit import byte_alphabet
from ticore.consistency import Audit, audit
from ticore.registry import load_tokenizer

from .conftest import Ticore


@pytest.mark.slow
def test_audit_json_has_every_finding(ticore: Ticore) -> None:
    shown = json.loads(ticore("audit", "--json").out)
    found = audit(load_tokenizer(DEFAULT_MODEL))
    assert shown.keys() == {field.name for field in fields(Audit)}
    for name in ("kind", "vocab_size", "digest", "method", "why", "checks", "partial", "rewritten"):
        assert shown[name] == getattr(found, name)
    assert [token["token"] for token in shown["unreachable"]] == [
        token.token for token in found.unreachable
    ]


def test_audit_shows_the_findings_to_a_person(ticore: Ticore) -> None:
    result = ticore("audit", "--mode", "viable")
    assert (result.status, result.err) == (0, "")
    shown = result.out.decode()
    assert "table, mode viable" in shown
    assert "unreachable    0 other tokens" in shown
    assert "\n\n" not in shown, "no table without findings"


@pytest.mark.slow
@pytest.mark.parametrize("columns", [40, 80])
def test_audit_shows_the_first_findings_in_tables(
    ticore: Ticore, monkeypatch: pytest.MonkeyPatch, columns: int, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    path = tmp_path / "tokenizer.json"
    path.write_text(out_of_reach().to_str())
    result = ticore("audit", "--tokenizer", f"tokenizers:{path}")
    assert (result.status, result.err) == (0, "")
    overview, hazards, unreachable = result.out.decode().split("\n\n")
    assert max(map(len, result.out.decode().splitlines())) <= columns
    assert "2 added tokens that text can spell" in " ".join(overview.split())
    assert "a special token" in " ".join(hazards.split())
    assert unreachable.splitlines()[1].split()[:4] == ["zz0", "257", "zz", "0"]
    assert unreachable.splitlines()[-1] == "and 8 more: --json"


def test_audit_says_that_hazards_are_not_known_without_a_structure(
    ticore: Ticore, tmp_path: Path
) -> None:
    path = tmp_path / "tokenizer.json"
    tokenizer = out_of_reach()
    tokenizer.add_tokens([AddedToken("<mask>", lstrip=True)])
    path.write_text(tokenizer.to_str())
    shown = ticore("audit", "--tokenizer", f"tokenizers:{path}").out.decode()
    assert "not known, since the structure is not" in shown
    found = json.loads(ticore("audit", "--json", "--tokenizer", f"tokenizers:{path}").out)
    assert (found["hazards"], found["kind"], found["method"]) == (None, "unknown", "retokenize")


def test_audit_says_that_no_tables_are_kept_for_a_user_without_a_home_directory(
    ticore: Ticore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_home(application: str) -> Path:
        raise RuntimeError("could not determine the home directory")

    monkeypatch.delenv("TICORE_CACHE")
    monkeypatch.setattr(table_cache, "user_cache_path", without_home)
    result = ticore("audit")
    assert (result.status, result.err) == (0, "")
    assert "set TICORE_CACHE" in result.out.decode()
    assert json.loads(ticore("audit", "--json").out)["tables"] is None


def out_of_reach() -> Tokenizer:
    """Byte-level BPE with a merge for "zz", and tokens "zz0", "zz1", ... that no merge gives."""
    names = [name for name, _ in sorted(byte_alphabet().items(), key=lambda item: item[1])]
    tokens = ["zz", *(f"zz{n}" for n in range(20))]
    vocab = {name: i for i, name in enumerate([*names, *tokens])}
    tokenizer = Tokenizer(models.BPE(vocab, [("z", "z")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<end>", "<end><end>"])
    return tokenizer


def test_audit_compares_the_other_files_of_a_folder(ticore: Ticore, tmp_path: Path) -> None:
    out_of_reach().save(str(tmp_path / "tokenizer.json"))
    other = out_of_reach()
    other.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=True)
    other.save(str(tmp_path / "mine.json"))
    place = f"tokenizers:{tmp_path}/mine.json"
    shown = " ".join(ticore("audit", "--tokenizer", place).out.decode().split())
    assert "other files and readers - tokenizer.json beside it reads" in shown
    (note,) = json.loads(ticore("audit", "--json", "--tokenizer", place).out)["notes"]
    assert note.endswith(f"to open it: tokenizers:{tmp_path}/tokenizer.json")


def test_audit_counts_what_each_mode_refuses_of_a_text(ticore: Ticore, tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes("The morning was cold.\n\n\U0001f600 東京\r\n".encode() * 20)
    shown = ticore("audit", "--text", str(path), "--model", DEFAULT_MODEL).out.decode()
    rows = {line.split()[0]: line for line in shown.splitlines() if line.strip()}
    found = json.loads(
        ticore("audit", "--json", "--text", str(path), "--model", DEFAULT_MODEL).out
    )["rejections"]
    assert found["characters"] == 20 * 29
    for mode in ("prefix", "open", "viable"):
        assert f"{found['refused'][mode]} (" in rows[mode]
        assert f"of {found['tokens']:,} tokens" in rows[mode]
        assert f"of {found['bits']:,.0f}" in rows[mode]
    counts = json.loads(ticore("audit", "--json", "--text", str(path)).out)["rejections"]
    assert counts == found | {"bits": None, "refused_bits": None}


@pytest.mark.parametrize(
    ("arguments", "status", "part"),
    [
        (["--mode", "loose"], 2, "expected one of prefix, open, viable"),
        (["--model", DEFAULT_MODEL], 2, "expected --text FILE"),
        (["--text", "absent.txt"], 1, "absent.txt"),
        (["--tokenizer", "nothing:here"], 1, "nothing"),
        (["--tokenizer", "sentencepiece:absent.model"], 1, "absent.model"),
    ],
)
def test_audit_refuses_wrong_options(
    ticore: Ticore, arguments: list[str], status: int, part: str
) -> None:
    ticore("audit", *arguments).assert_error(status, part)


@pytest.mark.slow
def test_audit_refuses_a_file_that_is_not_a_tokenizer(ticore: Ticore, tmp_path: Path) -> None:
    path = tmp_path / "broken.model"
    path.write_bytes(b"\x00" * 100)
    ticore("audit", "--tokenizer", f"sentencepiece:{path}").assert_error(1, "broken.model")
