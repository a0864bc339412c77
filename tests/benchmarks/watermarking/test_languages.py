"""How watermarks are found by length, in texts by people and in marked ones."""

import json

import pytest

from benchmarks.watermarking import languages


@pytest.fixture
def data(tmp_path):
    """A folder with one corpus and a prompt."""
    text = "".join(f"The ferry leaves at {n}, and {n + 1} people come early.\n" for n in range(400))
    corpus = tmp_path / "corpora" / "en" / "c4_pf_decoding.jsonl"
    corpus.parent.mkdir(parents=True)
    corpus.write_text(json.dumps({"id": "1", "text": text}) + "\n")
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "en.jsonl").write_text(json.dumps({"text": "The sea was"}) + "\n")
    return tmp_path


def test_rates_of_each_scheme_by_length(data, tmp_path, run, monkeypatch):
    monkeypatch.setattr(languages, "LENGTHS", (20, 40))
    options = ("--data", data, "--model", "tiny-en", "--passages", 5, "--texts", 2)
    files = ("--plot", tmp_path / "plot.svg", "--markdown", tmp_path / "table.md")
    found = run(languages.main, *options, *files)
    assert found.status == 0
    cells = found.report["cells"]
    assert {cell["scheme"] for cell in cells} == set(languages.SCHEMES)
    assert {(cell["marked"], cell["length"]) for cell in cells} == {
        (is_marked, length) for is_marked in (False, True) for length in (20, 40)
    }
    assert {cell["texts"] for cell in cells if not cell["marked"]} == {5}
    marked = [c for c in cells if c["marked"] and c["length"] == 40 and c["threshold"] == 1e-2]
    assert [cell["found"] for cell in marked] == [2, 2, 2]
    assert (tmp_path / "plot.svg").read_text().startswith("<?xml")
    assert (tmp_path / "table.md").read_text().count("\n| tiny-en |") == 3 * 2
    assert found.printed.count("gumbel") == 2


def test_without_a_folder_marked_texts_are_looked_at_alone(tmp_path, run, monkeypatch):
    """The bundled passage is shorter than the longest length."""
    monkeypatch.setattr(languages, "SCHEMES", ("gumbel",))
    plot = tmp_path / "plot.svg"
    found = run(languages.main, "--model", "tiny-en", "--texts", 1, "--plot", plot)
    assert found.status == 0
    assert {cell["marked"] for cell in found.report["cells"]} == {True}
    assert plot.exists()


def test_passages_have_the_longest_length():
    tokenizer = languages.ticore.load_tokenizer("tiny-en")
    text = "".join(f"Line {n} of a text.\n" for n in range(2000))
    passages = list(languages._passages(tokenizer, text))
    assert len(passages) > 3
    assert all(len(tokenizer.encode(passage)) >= max(languages.LENGTHS) for passage in passages)
    assert all(passage.startswith("Line ") for passage in passages)
    assert len({*passages}) == len(passages)
