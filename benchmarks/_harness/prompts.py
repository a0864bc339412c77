"""The prompts that texts start with."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

from ticore.errors import InputFileError

_BUNDLED = {
    "en": (
        "The morning was cold and",
        "It was late in the evening when",
        "She opened the letter, and",
        "Nobody in the village had ever",
        "The old captain looked at the sea and",
        "When the war was over, my father",
        "There was a house at the end of the road, which",
        "They had been walking for three days, and",
        "The city was founded by",
        "In the spring of that year",
        "The best way to learn a language is",
        "Our company has been in business since",
    ),
    "ja": (
        "その朝は寒く、",
        "夜も更けたころ、彼は",
        "彼女は手紙を開くと、",
        "村の人々は誰も",
        "老人は海を眺めながら、",
        "戦争が終わると、父は",
        "道の外れに一軒の家があって、",
        "三日も歩き続けて、",
        "この町は",
        "その年の春、",
        "新しい言葉を学ぶには、",
        "この会社は創業以来、",
    ),
    "zh": (
        "那天早上很冷，",
        "夜已经深了，他",
        "她打开信，",
        "村里没有人",
        "老人望着大海，",
        "战争结束以后，父亲",
        "路的尽头有一座房子，",
        "他们走了三天，",
        "这座城市",
        "那一年的春天，",
        "学习一门新的语言，",
        "这家公司成立以来，",
    ),
}

_LANGUAGES = {"tiny-ja": "ja", "tiny-zh": "zh"}


def language_of(model: str) -> str:
    """The language that a model writes best, by its place: `en` where that says nothing."""
    return _LANGUAGES.get(model, "en")


def chosen_prompts(options: Namespace, model: str) -> list[str]:
    """The prompts that `--data` and `--language` choose, in the language of `model` by default.

    Raises:
        InputFileError: as `load_prompts`.
    """
    return load_prompts(options.data, options.language or language_of(model))


def load_prompts(data: Path | None, language: str) -> list[str]:
    """The prompts of a folder, or bundled ones.

    Args:
        data: a folder with `prompts/LANGUAGE.jsonl`, one JSON object with a field `text` per line;
            None: the bundled prompts.
        language: such as `en`. Bundled prompts are in en, ja and zh.

    Raises:
        InputFileError: the file cannot be read, or holds no prompts; or none are bundled.
    """
    if data is None:
        if language not in _BUNDLED:
            raise InputFileError(
                f"expected one of the languages {', '.join(_BUNDLED)}, found {language!r}; name a "
                f"folder that has prompts/{language}.jsonl with --data"
            )
        return list(_BUNDLED[language])
    file = data / "prompts" / f"{language}.jsonl"
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        prompts = [json.loads(line)["text"] for line in lines if line]
    except (OSError, ValueError, LookupError) as error:
        raise InputFileError(
            f"expected prompts in {file}, one JSON object with a field 'text' per line: {error}; "
            f"name a folder that has this file with --data, or leave --data out"
        ) from error
    if not prompts:
        raise InputFileError(
            f"expected prompts in {file}, found none; add lines such as "
            f'{{"text": "The morning was cold and"}}'
        )
    return prompts
