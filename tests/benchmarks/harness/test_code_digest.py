"""The digest of code follows imports, and nothing but imports."""

import sys
from itertools import count
from pathlib import Path

import pytest

import benchmarks
import ticore
from benchmarks._harness import code_digest as module
from benchmarks._harness.code_digest import code_digest, imported_modules
from benchmarks.backends.samples import MessageSampler
from benchmarks.round_trip import samples as round_trip
from benchmarks.steganography import samples as steganography
from benchmarks.verification.soak_cases import CasePlayer
from benchmarks.watermarking import samples as watermarking
from benchmarks.watermarking.simulation import Simulation

_NUMBERS = count()

FILES = {
    "__init__.py": '"""This package only imports."""\n'
    "from .used import f\nfrom .unused import g\n__all__ = ['f', 'g']\n__version__ = '1'\n",
    "root.py": "import numpy\nfrom . import f\nimport {package}.side\n\n"
    "def sample():\n    from .late import h\n    return f() + h()\n",
    "used.py": "from .leaf import VALUE\n\ndef f():\n    return VALUE\n",
    "leaf.py": "VALUE = 1\n",
    "unused.py": "def g():\n    return 2\n",
    "late.py": "def h():\n    return 3\n",
    "side.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .types import T\n",
    "types.py": "T = int\n",
    "worker/__init__.py": "from .inner import run\nSTATE = run()\n",
    "worker/inner.py": "def run():\n    return 4\n",
    "worker/job.py": "def job():\n    return 5\n",
}


class Package:
    """A package of a new name, and the digest of what its module `root` uses."""

    def __init__(self, folder):
        self.name = f"package_{next(_NUMBERS)}"
        self.folder = folder / self.name
        for name, text in FILES.items():
            self.write(name, text)

    def write(self, name, text):
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("{package}", self.name), encoding="utf-8")
        module._parse.cache_clear()  # a file may change twice within the clock of the disk

    def append(self, name, text):
        self.write(name, (self.folder / name).read_text(encoding="utf-8") + text)

    def digest(self):
        return code_digest(self.root)

    @property
    def root(self):
        """A function of the module `root`, which is never imported."""

        def sample():
            raise AssertionError("the digest runs nothing")

        sample.__module__ = f"{self.name}.root"
        return sample


@pytest.fixture
def package(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    return Package(tmp_path)


def test_the_version_of_a_package_that_is_imported_counts(package, monkeypatch):
    before = package.digest()
    monkeypatch.setattr(module, "_version", lambda name: "0.1")
    assert package.digest() != before
    package.write("root.py", "from importlib import import_module\nX = import_module('numpy')\n")
    assert package.digest() != before
    package.write("root.py", "from . import f\n")  # numpy is no longer imported
    without = package.digest()
    monkeypatch.undo()
    monkeypatch.syspath_prepend(package.folder.parent)
    assert package.digest() == without


def test_imported_modules_are_those_reached_from_the_root(package):
    found = {name.partition(".")[2] for name in imported_modules(package.root)}
    assert found == {"root", "used", "leaf", "late", "side"}
    assert package.name not in sys.modules


@pytest.mark.parametrize("name", ["root.py", "used.py", "leaf.py", "late.py", "side.py"])
def test_code_digest_changes_when_an_imported_module_changes(package, name):
    before = package.digest()
    package.append(name, "MORE = 1\n")
    assert package.digest() != before


@pytest.mark.parametrize("name", ["unused.py", "types.py", "worker/job.py"])
def test_code_digest_stays_when_another_module_changes(package, name):
    before = package.digest()
    package.append(name, "MORE = 1\n")
    assert package.digest() == before


@pytest.mark.parametrize("name", ["root.py", "leaf.py"])
def test_code_digest_stays_when_only_comments_docstrings_or_layout_change(package, name):
    before = package.digest()
    text = (package.folder / name).read_text(encoding="utf-8")
    package.write(name, f'"""Explained."""\n\n# and commented\n{text}\n\n')
    assert package.digest() == before


def test_code_digest_changes_when_a_name_of_the_package_is_another_object(package):
    before = package.digest()
    package.append("used.py", "\ndef f2():\n    return 9\n")
    changed = package.digest()
    package.write("__init__.py", "from .used import f2 as f\nfrom .unused import g\n")
    assert len({before, changed, package.digest()}) == 3


def test_code_digest_follows_a_package_whole_when_it_does_more_than_import(package):
    package.append("late.py", "from .worker.job import job\n")
    before = package.digest()
    assert {f"{package.name}.worker", f"{package.name}.worker.inner"} < imported_modules(
        package.root
    )
    package.append("worker/inner.py", "MORE = 1\n")
    assert package.digest() != before


@pytest.mark.parametrize(
    "statement",
    [
        "import {package}.unused",
        "import {package}.unused as u",
        "import {package} as p\nX = p.g",
        "import {package} as p\nX = p.unused.g",
        "import {package}\nX = vars({package})",
        "from {package}.unused import *",
        "from . import unused",
        "from .unused import g as other",
        "def later():\n    from . import g",
        "from importlib import import_module\nX = import_module('{package}.unused')",
        "import importlib\nX = importlib.import_module('{package}.unused')",
        "X = require_module('{package}.unused', 'extra', 'what it is for')",
    ],
)
def test_code_digest_follows_every_form_of_import(package, statement):
    assert f"{package.name}.unused" not in imported_modules(package.root)
    package.append("leaf.py", statement + "\n")
    assert f"{package.name}.unused" in imported_modules(package.root)


def test_code_digest_of_an_object_is_that_of_its_package():
    model = ticore.load_model("tiny-en")
    assert {"ticore_embedded._model", "ticore_embedded._loading", "ticore_embedded._weights"} < (
        imported_modules(model)
    )
    assert code_digest(model) != code_digest(model.tokenizer)


def executed_modules(work):
    """The names of the modules of this project whose functions are called."""
    roots = [Path(ticore.__file__).parents[1], Path(benchmarks.__file__).parents[1]]
    roots += [root / "backends" for root in roots]
    names = set()

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_name not in ("<module>", "<lambda>"):
            name = frame.f_globals.get("__name__", "")
            if name.partition(".")[0] == "benchmarks" or name.startswith("ticore"):
                names.add(name)

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return names


def take_steganography():
    plan = steganography.Plan(bits=8, top_k=(16,))
    sampler = steganography.Sampler(ticore.load_model("tiny-en"), plan, ["The old"])
    sampler.take("sparsamp", "syncpool", 16, 0)


def take_watermarking():
    plan = watermarking.Plan(schemes=("gumbel",), max_tokens=4, attacks=("word drop 0.1",))
    watermarking.TextSampler(ticore.load_model("tiny-en"), plan, ["The old"]).take("gumbel", 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("take", "root"),
    [
        (take_steganography, steganography.make_worker),
        (take_watermarking, watermarking.make_worker),
    ],
)
def test_code_digest_covers_every_module_that_runs_when_a_sample_is_taken(take, root):
    model = ticore.load_model("tiny-en")
    covered = imported_modules(root, model, model.tokenizer)
    ran = executed_modules(take)
    # The registry asks each installed backend which models it bundles; samples do not depend on it.
    unasked = {name for name in ran if name.startswith(("ticore_torch", "ticore_jax"))}
    unasked.add("ticore.backend_kit._lazy_backend")  # which answers for them
    lazy = {"ticore", "ticore._support.moved_modules"}  # they run when something is imported
    assert ran - unasked - lazy - covered - {__name__} == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("root", "used", "unused"),
    [
        (steganography.make_worker, "ticore.codecs._arithmetic", "ticore.watermarking._generator"),
        (round_trip.make_worker, "ticore.codecs._arithmetic", "ticore.watermarking._generator"),
        (MessageSampler, "ticore.codecs._arithmetic", "ticore.watermarking._generator"),
        (
            watermarking.make_worker,
            "ticore.schemes._unigram",
            "ticore.steganography._steganographer",
        ),
        (Simulation, "ticore.schemes._unigram", "ticore.steganography._steganographer"),
        (
            CasePlayer,
            "ticore.consistency._engines.retokenizing",
            "ticore.steganography._steganographer",
        ),
    ],
)
def test_code_digest_of_a_benchmark_leaves_out_what_it_does_not_use(root, used, unused):
    modules = imported_modules(root)
    assert used in modules
    assert module._find(unused) is not None
    assert unused not in modules
    assert "benchmarks._harness.cli" not in modules
