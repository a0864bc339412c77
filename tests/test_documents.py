"""Every block of code in the documents runs or says why not, and the site builds."""

from __future__ import annotations

import os
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

import ticore
from tests.documents import (
    CONSOLE,
    PAGES,
    PYTHON,
    ROOT,
    RUN,
    SHELL,
    SHOWN,
    blocks,
    run_shell,
    session,
    steps,
)
from tests.support.seeded_entropy import with_seeded_entropy
from tests.support.tokenizers import DATA, REAL
from ticore._cli.main import run
from ticore.interfaces import Tokenizer
from tools.command_reference import command_reference, commands

BLOCKS = [block for page in PAGES for block in blocks(page)]
ALONE = [block for block in BLOCKS if block.needs and block.language == PYTHON]
SLOW_SESSIONS = {
    "README.md",
    "docs/how-to/hide-a-message.md",
    "docs/how-to/watermark-and-detect.md",
}
_LINK = re.compile(r"\]\(([^()\s#]+)(?:#[^()\s]*)?\)")


def _pages(*languages: str) -> list[object]:
    found = []
    for page in PAGES:
        if session(page, languages):
            name = page.relative_to(ROOT).as_posix()
            marks = [pytest.mark.slow] if name in SLOW_SESSIONS and PYTHON not in languages else []
            found.append(pytest.param(page, id=name, marks=marks))
    return found


@pytest.fixture
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("_elsewhere")
@pytest.mark.parametrize("page", _pages(PYTHON))
def test_python_blocks_of_a_page_run(page: Path) -> None:
    names: dict[str, object] = {"__name__": "example"}
    for block in session(page, [PYTHON]):
        exec(compile(block.code, f"{block.page}, block {block.number}", "exec"), names)


@pytest.mark.slow
@pytest.mark.usefixtures("_elsewhere")
@pytest.mark.parametrize("block", ALONE, ids=lambda block: f"{block.page}-{block.number}")
def test_python_block_runs_where_its_packages_are_installed(block) -> None:
    missing = [name for name in block.needs if find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    exec(
        compile(block.code, f"{block.page}, block {block.number}", "exec"), {"__name__": "example"}
    )


@pytest.mark.slow
@pytest.mark.parametrize("page", _pages(SHELL, CONSOLE))
def test_shell_blocks_of_a_page_run(page: Path, tmp_path: Path) -> None:
    commands = Path(sys.executable).parent
    environment = with_seeded_entropy(os.environ)
    environment["PATH"] = f"{commands}{os.pathsep}{environment['PATH']}"
    environment.pop("TICORE_PASSWORD", None)
    typed = [step for block in session(page, [SHELL, CONSOLE]) for step in steps(block)]
    folder = tmp_path / "session"
    folder.mkdir()
    run_shell(typed, folder, environment)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block.page}-{block.number}")
def test_block_is_run_or_says_why_not(block) -> None:
    assert block.language in (*RUN, *SHOWN)
    if block.language in RUN:
        assert block.reason is None or len(block.reason.split()) > 2
    else:
        # What is typed is to be in a block that is run.
        assert not re.search(r"^(\$|>>>) ", block.code, re.M)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_comment_about_a_block_stands_before_one(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    about = re.findall(r"<!-- *(?:not executed|needs|output differs|numbers differ):", text)
    assert len(about) == sum(
        bool(block.reason or block.needs or block.prints_otherwise or block.prints_other_numbers)
        for block in blocks(page)
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_link_to_a_file_leads_to_one(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    made = ROOT / "docs" / "reference" / "command-line.md"  # when the site is built
    for address in _LINK.findall(text):
        if "://" not in address and not address.startswith("mailto:"):
            target = (page.parent / address).resolve()
            assert target.exists() or target == made, address


@pytest.mark.slow
def test_examples_of_drift_are_what_compare_finds() -> None:
    """Each line of the page's table, computed by the real tokenizers."""
    page = ROOT / "docs" / "how-to" / "why-did-my-token-ids-change.md"
    found = re.findall(r"^\| (.+) \| ([\d ]+) \| ([\d ]+) \| (.+) \|$", page.read_text(), re.M)
    opened: dict[str, Tokenizer] = {}
    for name, sampled, again, cause in found:
        if name not in opened:
            opened[name] = _REAL[name]()
        comparison = ticore.compare(opened[name], [*map(int, sampled.split())])
        assert comparison.again == tuple(map(int, again.split())), (name, sampled)
        assert comparison.cause == cause, (name, sampled)
    assert len(opened) == 5


def _deepseek() -> Tokenizer:
    file = DATA / "tokenizers" / "deepseek-v3" / "tokenizer.json"
    if not file.exists():
        pytest.skip(f"{file} is absent; TICORE_DATA names the folder that holds tokenizers/")
    return ticore.load_tokenizer(f"tokenizers:{file}")


_REAL: dict[str, Callable[[], Tokenizer]] = {
    "GPT-2": REAL["gpt2"],
    "Llama 2": REAL["llama-2"],
    "Llama 3": REAL["llama-3"],
    "Qwen2.5": REAL["qwen2.5"],
    "DeepSeek V3": _deepseek,
}


def test_readme_has_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "pip install -e . && ticore demo" in readme
    assert "pip install -e '.[test-all]' && pytest" in readme


def test_readme_names_the_licences_of_the_texts_that_models_learned_from() -> None:
    *_, said = (ROOT / "README.md").read_text(encoding="utf-8").strip().split("\n\n")
    licences = r"public.domain|ODC-By|CC BY-SA"
    pages = sorted((ROOT / "docs").glob("tiny-*.md"))
    tables = [
        re.search(r"^\| text \| .*", page.read_text(encoding="utf-8"), re.M) for page in pages
    ]
    known = {found for row in tables if row for found in re.findall(licences, row[0])}
    named = {found.replace("-d", " d") for found in re.findall(licences, said)}
    assert len(pages) == 3
    assert named == known
    assert all(page.name in said for page in pages)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_module_that_a_page_runs_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8").replace("benchmarks.NAME", "benchmarks.paper")
    for name in re.findall(r"python3? -m ([\w.]*\w)", text):
        place = ROOT.joinpath(*name.split("."))
        if (ROOT / name.split(".")[0]).is_dir():  # others are of other packages
            assert place.with_suffix(".py").is_file() or (place / "__main__.py").is_file(), name


def test_ci_runs_the_test_command() -> None:
    steps = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "test-all]'" in steps
    assert re.search(r"^ +pytest$", steps, re.M)


def test_workflow_takes_its_steps_from_ci() -> None:
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    steps = re.findall(r"^ *- run: (.*)$", workflow, re.M)
    assert steps
    assert {step.split()[0] for step in steps} == {".ci/run"}
    known = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for step in steps:
        for argument in step.split()[1:]:
            assert re.search(rf"^{argument}\)$", known, re.M), step


def test_glossary_is_sorted() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    terms = re.findall(r"^## (.+)$", text, re.M)
    assert len(terms) > 50
    assert terms == sorted(terms, key=str.lower)


def test_every_public_package_has_a_page_of_the_reference() -> None:
    pages = "\n".join(
        page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "reference").glob("*.md")
    )
    documented = set(re.findall(r"^::: (\S+)$", pages, re.M))
    public = {
        f"ticore.{module.name}"
        for module in pkgutil.iter_modules(ticore.__path__)
        if module.ispkg and not module.name.startswith("_")
    }
    assert public - documented == set()


def test_command_reference_has_every_option_that_help_shows(
    capfd: pytest.CaptureFixture[str],
) -> None:
    page = command_reference()
    for command in commands():
        run([command.name, "--help"])
        shown = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", capfd.readouterr().out)) - {"--help"}
        _, _, section = page.partition(f"\n## {command.name}\n")
        section = section.partition("\n## ")[0]
        assert all(option in section for option in shown), command.name


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation site, built strictly."""
    for name in ("mkdocs", "material", "mkdocstrings"):
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed; it comes with the extra docs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_site_has_all_pages(site: Path) -> None:
    for page in ("index.html", "changelog/index.html", "reference/command-line/index.html"):
        assert (site / page).is_file()
    reference = (site / "reference" / "watermarking" / "index.html").read_text(encoding="utf-8")
    assert 'id="ticore.watermarking.Watermarker.generate"' in reference


@pytest.mark.slow
def test_site_loads_nothing_from_elsewhere(site: Path) -> None:
    loaded = re.compile(
        r"<(?:script|img|iframe)[^>]* src=\"?https?:"
        r"|<link[^>]*rel=\"?(?:stylesheet|preconnect|icon)[^>]*href=\"?https?:"
    )
    pages = list(site.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        assert not loaded.search(page.read_text(encoding="utf-8")), page
