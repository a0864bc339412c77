"""Options that benchmarks share."""

import pytest

from benchmarks._harness.cli import (
    add_alias,
    command,
    exit_status,
    positive_int,
    sampling_command,
)
from ticore.errors import SettingsError


def test_sampling_command_has_the_shared_options():
    options = sampling_command("NAME", "What it does.", 7, plot=True).parse_args([])
    assert (options.samples, options.model, options.processes) == (7, "tiny-en", 2)
    assert (options.json, options.parquet, options.plot) == (None, None, None)
    assert str(options.out) == "results/NAME.jsonl"


def test_add_alias_accepts_the_earlier_name_and_does_not_show_it():
    parser = sampling_command("NAME", "What it does.", 7)
    add_alias(parser, "--count", "samples", type=positive_int)
    assert parser.parse_args([]).samples == 7
    assert parser.parse_args(["--count", "3"]).samples == 3
    assert parser.parse_args(["--samples", "4"]).samples == 4
    assert "--count" not in parser.format_help()
    assert parser.format_help().startswith("usage: python -m benchmarks.NAME")


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "x", "٣", ""])
def test_positive_int_is_refused_when_it_is_not_a_whole_number_from_1_on(text, capsys):
    parser = command("NAME", "What it does.")
    parser.add_argument("--number", type=positive_int)
    with pytest.raises(SystemExit):
        parser.parse_args([f"--number={text}"])
    found = f"expected a whole number of at least 1, found {text!r}"
    assert found in capsys.readouterr().err


def test_exit_status_is_1_and_says_why_when_ticore_raises(capsys):
    def run(_):
        raise SettingsError("top_k: expected [at least] 1")

    assert exit_status(run, None) == 1
    assert "expected [at least] 1" in capsys.readouterr().err
    assert exit_status(lambda options: options, 130) == 130
