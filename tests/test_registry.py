"""Places, backends and what is said when one is not there."""

from importlib.metadata import EntryPoint
from pathlib import Path
from types import MappingProxyType

import pytest

from tests.models import ToyModel, ToyTokenizer
from ticore import Verifier, WatermarkDetector, compare, load_model, load_tokenizer, registry
from ticore.consistency import audit
from ticore.errors import MissingExtraError, ModelFilesError, SettingsError, UnknownPlaceError
from ticore.interfaces import LanguageModel, Tokenizer


class ToyBackend:
    """A third party's backend, as an entry point names it."""

    summary = "toys"
    shipped = MappingProxyType({"toy": "a toy"})

    def folder(self, model):
        return None

    def load(self, location, load_tokenizer, options):
        assert load_tokenizer is registry.load_tokenizer
        return ToyModel(ToyTokenizer([location, "a"]), **options)


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


def test_an_embedded_model_by_its_name():
    model = load_model("tiny-en")
    assert isinstance(model, LanguageModel)
    assert isinstance(model.tokenizer, Tokenizer)
    assert load_tokenizer("tiny-en").digest() == model.tokenizer.digest()
    assert load_model("embedded:tiny-en").digest() == model.digest()


@pytest.mark.usefixtures("_declared")
def test_a_backend_opens_what_ships_with_another(tmp_path, monkeypatch):
    (folder,) = load_model("toys:tiny-en").tokenizer.pieces[:1]
    assert {path.name for path in Path(folder).iterdir()} >= {"config.json", "model.safetensors"}
    # A file that is called so comes first, and what lies nowhere stays a name.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny-en").mkdir()
    assert load_model("toys:tiny-en").tokenizer.pieces[0] == "tiny-en"
    with pytest.raises(ModelFilesError, match="'toy' to be a directory"):
        load_model("embedded:toy")


@pytest.mark.usefixtures("_declared")
def test_a_third_partys_backend():
    assert load_model("toy").tokenizer.pieces == ["toy", "a"]
    model = load_model("toys:C:/x", seed=3)
    assert model.tokenizer.pieces == ["C:/x", "a"]
    assert load_tokenizer("toy").pieces == ["toy", "a"]


@pytest.mark.usefixtures("_declared")
def test_a_missing_framework_says_how_to_get_it():
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
        ("tiny-de", r"no embedded model is called 'tiny-de' \(there are: tiny-en\)"),
        ("", "no embedded model is called ''"),
        ("nix:x", "no backend for models is called 'nix'; installed are: embedded"),
        (":x", "no backend for models is called ''"),
    ],
)
def test_unknown_models(place, message):
    with pytest.raises(UnknownPlaceError, match=message):
        load_model(place)


def test_unknown_tokenizers():
    with pytest.raises(
        UnknownPlaceError, match="installed are: sentencepiece, tiktoken, tokenizers"
    ):
        load_tokenizer("nix:x")
    with pytest.raises(ModelFilesError):
        load_tokenizer("sentencepiece:/nowhere")


def test_choose():
    assert registry.choose("codec", {"a": 1}, "a") == 1
    with pytest.raises(SettingsError, match="unknown codec 'c': choose one of a, b"):
        registry.choose("codec", {"b": 2, "a": 1}, "c")


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
def test_a_tokenizer_of_another_library():
    found, before = ["b"], ADOPTER.asked
    adopted = registry.as_tokenizer(found)
    assert adopted.pieces == ["a", "b"]
    assert registry.as_tokenizer(adopted) is adopted
    assert registry.as_tokenizer(found) is adopted
    assert ADOPTER.asked == before + 1
    assert compare(found, [0, 1]).consistent
    assert Verifier(found).tokenizer is adopted
    assert WatermarkDetector(found, key=bytes(32)).tokenizer is adopted
    found.append("c")
    assert registry.as_tokenizer(found).pieces == ["a", "b", "c"]
    assert registry.as_tokenizer(["b"]) is not adopted
    others = [registry.as_tokenizer([str(n)]) for n in range(9)]
    assert len(registry._ADOPTED) < len(others)


@pytest.mark.usefixtures("_adopting")
@pytest.mark.parametrize(
    ("found", "said"),
    [
        ("tiny-en", "the text 'tiny-en'; open one with ticore.load_tokenizer"),
        (None, "a builtins.NoneType"),
        (ToyModel, "a builtins.type"),
    ],
)
def test_what_is_no_tokenizer(found, said):
    for take in (
        registry.as_tokenizer,
        Verifier,
        audit,
        lambda it: compare(it, []),
        lambda it: WatermarkDetector(it, key=bytes(32)),
    ):
        with pytest.raises(SettingsError, match=f"expected a tokenizer, .*, found {said}"):
            take(found)


def test_what_is_no_model():
    registry.require_model(load_model("tiny-en"))
    with pytest.raises(SettingsError, match=r"expected a model .*, found the text 'tiny-en'; open"):
        registry.require_model("tiny-en")
