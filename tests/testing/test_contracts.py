"""The contracts that a third party runs: their examples pass, and what is broken fails."""

import inspect
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import ticore.testing

ROOT = Path(ticore.testing.__file__).parents[2]
START = "A complete test file"
EXAMPLES = {
    name: text
    for name in ticore.testing.__all__
    if START in (text := inspect.getdoc(getattr(ticore.testing, name)) or "")
}


def example_of(name):
    """The code in a contract's docstring."""
    _, _, rest = EXAMPLES[name].partition(START)
    lines = rest.splitlines()[1:]
    code = [line for line in lines if not line or line.startswith("    ")]
    assert [line for line in lines if line not in code] == [], "text after the example"
    return textwrap.dedent("\n".join(code)).strip() + "\n"


# Without a limit Hypothesis may simplify a failing example for five minutes.
CONFTEST = """
from hypothesis import Phase, settings

settings.register_profile(
    "contracts", derandomize=True, deadline=None, phases=[Phase.explicit, Phase.generate]
)
settings.load_profile("contracts")
"""


def run_pytest(folder, *options):
    """What pytest says in a process of its own, with no other settings than these."""
    (folder / "conftest.py").write_text(CONFTEST)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            *options,
            ".",
        ],
        cwd=folder,
        env={
            **os.environ,
            "PYTEST_ADDOPTS": "",
            "CI": "true",  # pytest explains more of a failure then
            "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "backends"))),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_every_contract_of_a_part_has_an_example():
    assert set(EXAMPLES) == {
        "ChannelContract",
        "CodecContract",
        "DisambiguationContract",
        "ModelContract",
        "SchemeContract",
        "TokenizerContract",
    }


@pytest.mark.slow
def test_examples_of_all_contracts_pass(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\n")
    for name in EXAMPLES:
        (tmp_path / f"test_{name.lower()}.py").write_text(example_of(name), encoding="utf-8")
    status, said = run_pytest(tmp_path)
    assert status == 0, said
    assert "failed" not in said


# A fault in each example, and the test that must notice it.
FAULTS = {
    "ChannelContract": (
        'random.choice("-~")',
        'random.choice("-_")',
        "test_changes_in_any_order_are_undone",
    ),
    "TokenizerContract": (
        'decode(errors="replace")',
        'decode(errors="ignore")',
        "test_decode_writes_the_bytes_of_the_tokens",
    ),
    "ModelContract": (
        "del self.ids[-count:]",
        "pass",
        "test_rewind_leaves_no_trace",
    ),
    "CodecContract": (
        "return (index % 2, 1)",
        "return ((index + 1) % 2, 1)",
        "test_message_is_read_back",
    ),
    "DisambiguationContract": (
        "return index\n",
        "return 0\n",
        "test_reader_finds_the_choices_of_the_writer",
    ),
    "SchemeContract": (
        "Greens(0.5, 0.9)",
        "Greens(0.25, 0.9)",
        "test_p_values_of_random_texts_are_not_too_small",
    ),
}


@pytest.mark.slow
def test_contracts_notice_a_fault_in_each_example(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\n")
    for name, (right, wrong, _) in FAULTS.items():
        code = example_of(name)
        assert right in code
        code = code.replace(right, wrong)
        (tmp_path / f"test_{name.lower()}.py").write_text(code, encoding="utf-8")
    _, said = run_pytest(tmp_path, "-k", " or ".join(test for _, _, test in FAULTS.values()))
    missed = [test for _, _, test in FAULTS.values() if f"::{test}" not in said]
    assert missed == [], said


def test_testing_says_what_to_install_where_pytest_is_missing(tmp_path):
    (tmp_path / "hypothesis.py").write_text("raise ModuleNotFoundError('no', name='hypothesis')")
    code = "import ticore.testing"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "expected pytest and hypothesis" in done.stderr.splitlines()[-1]
    assert "testing" in done.stderr.splitlines()[-1]


@pytest.mark.slow
def test_testing_imports_no_framework_and_no_tokenizer_library():
    names = ("torch", "jax", "transformers", "tokenizers", "tiktoken", "sentencepiece")
    code = f"import sys, ticore.testing; print([n for n in {names!r} if n in sys.modules])"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", [n for n in ticore.testing.__all__ if n.endswith("Contract")])
def test_contract_has_only_tests_whose_names_say_what_is_tested(name):
    tests = [test for test in dir(getattr(ticore.testing, name)) if test.startswith("test_")]
    assert tests
    assert all(len(test.split("_")) > 4 for test in tests)
