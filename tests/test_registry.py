"""Places, backends and what is said when one is not there."""

import math
import shutil
from importlib.metadata import EntryPoint
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

import ticore
import ticore_embedded
from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore import Verifier, WatermarkDetector, compare, load_model, load_tokenizer, registry
from ticore.consistency import audit
from ticore.errors import (
    MissingExtraError,
    ModelFilesError,
    SettingsError,
    TicoreError,
    UnknownPlaceError,
)
from ticore.interfaces import LanguageModel, Tokenizer


class ToyBackend:
    """A third party's backend, as an entry point names it."""

    summary = "toys"
    shipped = MappingProxyType({"toy": "a toy"})

    def folder(self, model):
        return None

    def load(self, location, load_tokenizer, options):
        assert load_tokenizer is registry.load_tokenizer
        settings = dict(options)
        model = ToyModel(ToyTokenizer([location, "a"]), seed=settings.pop("seed", 0))
        model.other_options = settings
        return model


TOYS = ToyBackend()


@pytest.fixture
def _declared(monkeypatch):
    """Two more backends: one of toys, and one whose framework is not installed."""
    more = [
        EntryPoint("toys", f"{__name__}:TOYS", registry.MODELS),
        EntryPoint("heavy", "no_such_framework:BACKEND [heavy]", registry.MODELS),
        EntryPoint("stray", "no_such_library:BACKEND", registry.TOKENIZERS),
    ]
    real = registry.entry_points
    monkeypatch.setattr(
        registry,
        "entry_points",
        lambda group: [*real(group=group), *(e for e in more if e.group == group)],
    )


def test_a_package_that_cannot_be_loaded_is_in_nobodys_way(monkeypatch):
    broken = EntryPoint("broken", "json:NOTHING", registry.MODELS)
    real = registry.entry_points
    monkeypatch.setattr(
        registry,
        "entry_points",
        lambda group: [*real(group=group), *([broken] if group == registry.MODELS else [])],
    )
    assert load_model("tiny-en").tokenizer.vocab_size
    (entry,) = (entry for entry in registry.model_backends() if entry.name == "broken")
    assert entry.backend is None
    assert "'broken' cannot be loaded" in entry.problem


def test_a_place_that_no_file_can_have_is_refused_in_words():
    with pytest.raises(TicoreError):
        load_model("embedded:" + "a" * 5000)


@pytest.mark.parametrize("found", [dict, np.array(1)])
def test_wrap_refuses_what_has_no_length(found):
    with pytest.raises(SettingsError, match="expected"):
        registry.wrap(found)


def test_load_model_opens_a_bundled_model_by_its_name():
    model = load_model("tiny-en")
    assert isinstance(model, LanguageModel)
    assert isinstance(model.tokenizer, Tokenizer)
    assert load_tokenizer("tiny-en").digest() == model.tokenizer.digest()
    assert load_model("embedded:tiny-en").digest() == model.digest()


def test_load_tokenizer_does_not_open_the_model_of_a_bundled_name(monkeypatch):
    digest = load_model("tiny-en").tokenizer.digest()
    monkeypatch.delattr(registry, "load_model")
    assert load_tokenizer("tiny-en").digest() == digest


@pytest.mark.usefixtures("_declared")
def test_load_model_opens_a_model_that_is_bundled_with_another_backend(tmp_path, monkeypatch):
    model = load_model("toys:tiny-en")
    assert model.other_options == {"dtype": "float64"}
    (folder,) = model.tokenizer.pieces[:1]
    assert {path.name for path in Path(folder).iterdir()} >= {"config.json", "model.safetensors"}
    # A file that is called so comes first, and what lies nowhere stays a name.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny-en").mkdir()
    assert load_model("toys:tiny-en").tokenizer.pieces[0] == "tiny-en"
    with pytest.raises(ModelFilesError, match="'toy' to be a directory"):
        load_model("embedded:toy")


@pytest.mark.usefixtures("_declared")
def test_load_model_finds_the_backend_of_a_third_party():
    assert load_model("toy").tokenizer.pieces == ["toy", "a"]
    model = load_model("toys:C:/x", seed=3)
    assert model.other_options == {}
    assert model.tokenizer.pieces == ["C:/x", "a"]
    assert load_tokenizer("toy").pieces == ["toy", "a"]


@pytest.mark.usefixtures("_declared")
def test_load_model_says_how_to_install_a_missing_framework():
    with pytest.raises(MissingExtraError, match=r"with its extra 'heavy'|\[heavy\]'"):
        load_model("heavy:x")
    with pytest.raises(MissingExtraError, match="install the package that has this module"):
        load_tokenizer("stray:x")
    listed = {entry.name: entry for entry in registry.model_backends()}
    assert listed["toys"].backend is TOYS
    assert listed["heavy"].backend is None
    assert "no_such_framework" in listed["heavy"].problem
    load_model("toy")  # does not mind the one that cannot be loaded


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (
            "tiny-de",
            r"no model is called 'tiny-de' \(there are: .*smollm2, tiny-en, tiny-ja, tiny-zh\)",
        ),
        ("", "no model is called ''"),
        ("nix:x", "no backend for models is called 'nix'; installed are: embedded"),
        (":x", "no backend for models is called ''"),
    ],
)
def test_load_model_refuses_an_unknown_place(place, message):
    with pytest.raises(UnknownPlaceError, match=message):
        load_model(place)


def test_load_tokenizer_refuses_an_unknown_place():
    with pytest.raises(
        UnknownPlaceError, match="installed are: sentencepiece, tiktoken, tokenizers"
    ):
        load_tokenizer("nix:x")
    with pytest.raises(ModelFilesError):
        load_tokenizer("sentencepiece:/nowhere")


def test_lookup_finds_bundled_variants_and_lists_them_otherwise():
    assert registry.lookup("codec", {"a": 1}, "a") == 1
    with pytest.raises(SettingsError, match="unknown codec 'c': choose one of a, b"):
        registry.lookup("codec", {"b": 2, "a": 1}, "c")


class Adopter:
    """A third party's backend that takes the tokenizers of its own library."""

    summary = "toys"

    def __init__(self):
        self.asked = 0

    def load(self, location):
        return ToyTokenizer([location, "a"])

    def adopt(self, found):
        self.asked += 1
        return ToyTokenizer(["a", *found]) if isinstance(found, list) else None


ADOPTER = Adopter()


@pytest.fixture
def _adopting(monkeypatch):
    entries = [
        EntryPoint("stray", "no_such_library:BACKEND", registry.TOKENIZERS),
        EntryPoint("old", f"{__name__}:TOYS", registry.TOKENIZERS),  # without `adopt`
        EntryPoint("adopter", f"{__name__}:ADOPTER", registry.TOKENIZERS),
    ]
    monkeypatch.setattr(registry, "entry_points", lambda group: entries)
    monkeypatch.setattr(registry, "_ADOPTED", [])


@pytest.mark.usefixtures("_adopting")
def test_wrap_takes_a_tokenizer_of_another_library_everywhere():
    found, before = ["b"], ADOPTER.asked
    adopted = registry.wrap(found)
    assert adopted.pieces == ["a", "b"]
    assert registry.wrap(adopted) is adopted
    assert registry.wrap(found) is adopted
    assert ADOPTER.asked == before + 1
    assert compare(found, [0, 1]).consistent
    assert Verifier(found).tokenizer is adopted
    assert WatermarkDetector(found, key=bytes(32)).tokenizer is adopted
    found.append("c")
    assert registry.wrap(found).pieces == ["a", "b", "c"]
    assert registry.wrap(["b"]) is not adopted
    others = [registry.wrap([str(n)]) for n in range(9)]
    assert len(registry._ADOPTED) < len(others)


@pytest.mark.usefixtures("_adopting")
@pytest.mark.parametrize(
    ("found", "said"),
    [
        ("tiny-en", "the text 'tiny-en'; open the one of this name: ticore.load_tokenizer"),
        (None, "a builtins.NoneType"),
        (ToyModel, "a builtins.type"),
    ],
)
def test_wrap_refuses_what_no_backend_knows(found, said):
    for take in (
        registry.wrap,
        Verifier,
        audit,
        lambda it: compare(it, []),
        lambda it: WatermarkDetector(it, key=bytes(32)),
    ):
        with pytest.raises(SettingsError, match=f"expected a tokenizer of .*, found {said}"):
            take(found)


def test_require_model_refuses_the_name_of_a_model():
    registry.require_model(load_model("tiny-en"))
    with pytest.raises(
        SettingsError, match=r"found the text 'tiny-en'; open .* ticore\.load_model\('tiny-en'\)"
    ):
        registry.require_model("tiny-en")


def test_lookup_finds_variants_of_other_packages_and_prefers_bundled_ones(monkeypatch):
    entries = [EntryPoint(name, "math:pi", "ticore.codecs") for name in ("a", "b")]
    monkeypatch.setattr(registry, "entry_points", lambda group: entries)
    assert registry.lookup("codec", {"a": 1}, "b", "ticore.codecs") == math.pi
    assert registry.lookup("codec", {"a": 1}, "a", "ticore.codecs") == 1
    with pytest.raises(SettingsError, match="unknown codec 'c': choose one of a, b"):
        registry.lookup("codec", {"a": 1}, "c", "ticore.codecs")


class Network:
    """A network of transformers, as far as it is looked at."""

    config = None

    def generate(self):
        raise NotImplementedError


@pytest.mark.parametrize(
    ("found", "advice"),
    [
        (Network(), "this is a network: give its tokenizer, or wrap both"),
        (ToyModel(ToyTokenizer(["a"])), "give the model's tokenizer: model.tokenizer"),
    ],
)
def test_wrap_says_where_the_tokenizer_of_a_model_is(found, advice):
    with pytest.raises(SettingsError, match=advice):
        registry.wrap(found)


def test_wrap_is_the_public_function_and_has_old_names():
    tokenizer = load_tokenizer("tiny-en")
    with pytest.deprecated_call(match=r"as_tokenizer is deprecated; use ticore\.wrap"):
        assert registry.as_tokenizer(tokenizer) is ticore.wrap(tokenizer) is tokenizer
    with (
        pytest.deprecated_call(match=r"as_model is deprecated; use ticore\.wrap"),
        pytest.raises(SettingsError, match="expected a model that a backend knows"),
    ):
        registry.as_model(object(), tokenizer)


def test_a_tokenizer_of_the_home_directory_may_begin_with_a_tilde(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    folder = Path(ticore_embedded.__file__).parent / "models" / "tiny-en"
    shutil.copy(folder / "tokenizer.model", tmp_path / "own.model")
    found = load_tokenizer("sentencepiece:~/own.model")
    assert found.digest() == load_tokenizer("tiny-en").digest()


@pytest.mark.parametrize("backend", ["sentencepiece", "tokenizers"])
def test_a_name_that_no_file_can_have_is_refused_like_one_that_none_has(backend):
    with pytest.raises(ModelFilesError, match="expected"):
        load_tokenizer(f"{backend}:" + "x" * 5000)
