"""A conversation is read with the special tokens that its template writes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import ticore
import ticore_embedded
from tests.support.toy_models import ToyTokenizer
from ticore.backend_kit._special_tokens import require_tokens_in
from ticore.errors import PromptError

TINY_EN = Path(ticore_embedded.__file__).parent / "models" / "tiny-en"
TEMPLATE = "{% for m in messages %}<|im_start|>{{ m.content }}{% endfor %}"


def test_names_of_tokens_that_the_tokenizer_lacks_are_refused() -> None:
    tokenizer = ticore.load_tokenizer("tiny-en")
    for name in ("</s>", " ", "the", "<unheard>"):  # special, blank, ordinary, not in the text
        require_tokens_in(tokenizer, "</s> the <|user|>", [name])
    require_tokens_in(ToyTokenizer(["", "a"]), "a", ["a"])
    for text, names, found in (
        ("a<|user|>", ["<|user|>"], "'<|user|>'"),
        ("<|user|><|end|>", ["</s>", "<|user|>", "<|end|>"], "'<|end|>'"),
    ):
        with pytest.raises(PromptError, match="found none for") as caught:
            require_tokens_in(tokenizer, text, names)
        assert found in str(caught.value)


def test_a_conversation_is_refused_whose_marks_only_another_file_has(tmp_path: Path) -> None:
    """As in models that were tuned from Llama 2 with marks of their own."""
    folder = tmp_path / "model"
    shutil.copytree(TINY_EN, folder)
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    model = ticore.load_model(f"embedded:{folder}", dtype="float32")
    chat = ticore.Chat.ask("Hello.")
    assert ticore.consistent_generate(model, chat, max_new_tokens=2).ids
    (folder / "added_tokens.json").write_text(json.dumps({"<|im_start|>": 5000}))
    model = ticore.load_model(f"embedded:{folder}", dtype="float32")
    with pytest.raises(PromptError, match=r"tokenizer='tokenizers:DIR'"):
        ticore.consistent_generate(model, chat, max_new_tokens=2)
    assert ticore.consistent_generate(model, "Hello.", max_new_tokens=2).ids
