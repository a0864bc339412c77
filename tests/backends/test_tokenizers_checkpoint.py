"""`tokenizers:FOLDER#transformers`: the ids that AutoTokenizer of transformers gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

import ticore
from tests.support.tokenizers import HUGGING_FACE, sample_text
from ticore.errors import ModelFilesError
from ticore.registry import load_tokenizer

transformers = pytest.importorskip("transformers")


def folder_with(folder: Path, library: Tokenizer, **config: object) -> str:
    library.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return f"tokenizers:{folder}#transformers"


@pytest.mark.parametrize("name", ["TokenizersBackend", "LlamaTokenizer", "GPT2Tokenizer"])
@pytest.mark.parametrize("legacy", [True, False])
def test_ids_are_those_of_auto_tokenizer(tmp_path: Path, name: str, legacy: bool) -> None:
    library = HUGGING_FACE["hf-gpt2" if name == "GPT2Tokenizer" else "hf-llama"]()._library
    place = folder_with(tmp_path, library, tokenizer_class=name, legacy=legacy)
    ours = load_tokenizer(place)
    theirs = transformers.AutoTokenizer.from_pretrained(str(tmp_path))
    for text in (*sample_text(5), " a  b ", "don't\n\n x "):
        ids = theirs(text, add_special_tokens=False)["input_ids"]
        assert ours.encode(text) == ids
        assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=True)


def unigram() -> Tokenizer:
    library = Tokenizer(models.Unigram([("<unk>", 0.0), ("▁", -1.0), ("a", -2.0), (".", -3.0)], 0))
    library.pre_tokenizer = pre_tokenizers.Metaspace()
    library.decoder = decoders.Metaspace()
    return library


def test_a_decode_that_removes_spaces_is_refused(tmp_path: Path) -> None:
    place = folder_with(tmp_path, unigram(), clean_up_tokenization_spaces=True)
    with pytest.raises(ModelFilesError, match="clean_up_tokenization_spaces"):
        load_tokenizer(place)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=unigram(), clean_up_tokenization_spaces=True
    )
    with pytest.raises(ModelFilesError, match="clean_up_tokenization_spaces"):
        ticore.wrap(fast)
    assert load_tokenizer(folder_with(tmp_path, unigram())).decode([2, 1, 3]) == "a ."
    library = HUGGING_FACE["hf-gpt2"]()._library
    load_tokenizer(folder_with(tmp_path, library, clean_up_tokenization_spaces=True))


def test_a_folder_whose_special_tokens_are_split_is_refused(tmp_path: Path) -> None:
    library = HUGGING_FACE["hf-gpt2"]()._library
    with pytest.raises(ModelFilesError, match="found split_special_tokens"):
        load_tokenizer(folder_with(tmp_path, library, split_special_tokens=True))


def test_a_folder_that_transformers_does_not_open_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFilesError, match="check the path"):
        load_tokenizer(f"tokenizers:{tmp_path}/absent#transformers")
    with pytest.raises(ModelFilesError, match="that transformers opens"):
        load_tokenizer(f"tokenizers:{tmp_path}#transformers")
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(ModelFilesError, match="that transformers opens"):
        load_tokenizer(f"tokenizers:{tmp_path}#transformers")
