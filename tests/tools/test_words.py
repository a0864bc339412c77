"""The list of unwanted words finds them, and nothing like them."""

import pytest

from tools.words import findings, main


def found(line: str) -> list[str]:
    return [finding.word for finding in findings("file.py", line)]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("what stands behind it", ["behind"]),
        ("Behind that, so many tokens", ["Behind", "so many"]),
        ("2.1 bits a token and 3 MB an id", ["bits a token", "MB an id"]),
        ("that is none", ["is none"]),
        ("it retokenises", ["retokenises"]),
    ],
)
def test_findings_name_each_unwanted_word(line: str, words: list[str]) -> None:
    assert found(line) == words


@pytest.mark.parametrize(
    "line",
    ["x is None", "bits per token", "some text", "a token", 'say "behind"  # words: quoted'],
)
def test_findings_leave_other_lines_alone(line: str) -> None:
    assert found(line) == []


@pytest.mark.slow
def test_no_file_of_the_project_has_an_unwanted_word(capsys: pytest.CaptureFixture[str]) -> None:
    status = main()
    assert (status, capsys.readouterr().out) == (0, "")
