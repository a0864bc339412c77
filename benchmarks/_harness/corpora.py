"""Texts to measure on: files, the corpora in a data folder, or bundled texts."""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

from ticore.errors import InputFileError

Corpora = Mapping[str, str]
"""Texts by label."""

# Files in DIR/corpora.
_FILES = {
    "English": "en/c4_pf_decoding.jsonl",
    "English novels": "en/100_english_novels.txt.gz",
    "Japanese": "ja/jaquad_contexts.txt.gz",
    "Japanese novels": "ja/aozora_modern_kana.txt.gz",
    "Chinese": "zh/cmrc2018_contexts.txt",
    "Chinese essays": "zh/luxun.txt",
    "Chinese technology": "zh/lctt_opensource_fedora.txt.gz",
}

_MOST_CHARACTERS = 4 << 20  # of each file; no measurement needs more

_BUNDLED = {
    "English": (
        "The ferry leaves at seven, and whoever wants a seat by the window comes early. It's an "
        "hour's crossing; the captain, who has made it some 20,000 times, says he'd rather not "
        "count. \u201cYou don't look at the water,\u201d he told us, \u201cyou listen to it.\u201d "
        "On the island there are three shops, one school with eleven pupils, and a café that "
        "opens in May. We'd brought bread, cheese and two maps (neither was right), so we walked "
        "north until the path ended at a wall.\n\nBehind it, sheep. The farmer didn't mind us; "
        "she's used to people who can't read signs, she said, and pointed: first the gate, then "
        "the bridge, then 1.5 km along the shore.\n"
    ),
    "Japanese": (
        "港から出る船は朝七時に一便しかない。窓のそばに座りたい人は、早めに来て並ぶことになる。"
        "船長によれば、この海をもう二万回ほど渡ったが、数えるのはやめたそうだ。「水は見るもので"
        "はない、聞くものだ」と彼は言った。島には店が三軒、生徒が11人の学校が一つ、それに五月か"
        "ら開くカフェがある。私たちはパンとチーズと地図を二枚持って行ったが、地図はどちらも間違"
        "っていた。\n北へ歩くと、道は石垣のところで終わっていた。向こうには羊がいる。"
        "「看板を読まない人には慣れていますから」と農家の女性は笑い、まず門、次に橋、それから海"
        "沿いを1.5キロ、と教えてくれた。\n"
    ),
    "Chinese": (
        "渡轮早上七点开,想坐靠窗位置的人都来得很早。船长说,这段海路他走了大约两万次,早就不数了。"
        "“水不是用来看的,”他告诉我们,“是用来听的。”岛上有三家店、一所只有11名学生的学校,"
        "还有一家五月才开门的咖啡馆。我们带了面包、奶酪和两张地图,可惜两张都不对,于是一直往北走,"
        "走到一堵石墙前,路就没有了。\n墙后面是羊。农场的女主人并不介意,她说不看路牌的人她见得多了,"
        "然后指给我们看:先是门,再是桥,最后沿着海岸走1.5公里。\n"
    ),
}


def load_corpora(files: Sequence[Path], data: Path | None, chosen: Sequence[str] = ()) -> Corpora:
    """The texts of files; if no file is named, the corpora in a data folder and bundled texts.

    Args:
        files: UTF-8 texts, `.jsonl` files with strings, either also as `.gz`.
        data: the folder that holds corpora/. A corpus replaces the bundled text of its label.
        chosen: labels of the corpora and bundled texts to use; all if empty.

    Raises:
        InputFileError: a file cannot be read.
    """
    if files:
        return {file.name: _read(file) for file in files}
    found = {**_BUNDLED, "code": _code()}
    if data is not None:
        corpora = {label: data / "corpora" / name for label, name in _FILES.items()}
        wanted = {label: file for label, file in corpora.items() if not chosen or label in chosen}
        found |= {label: _read(file) for label, file in wanted.items() if file.exists()}
    return {label: found[label] for label in chosen or found if label in found}


def passage(text: str, characters: int, draw: random.Random) -> str:
    """A passage of this many characters, from the start of a line. A short text is repeated."""
    text = text * (characters // max(1, len(text)) + 1)
    start = draw.randrange(len(text) - characters + 1)
    start = text.rfind("\n", 0, start) + 1
    return text[start : start + characters]


def _code() -> str:
    """A file of Python's standard library."""
    return Path(argparse.__file__).read_text(encoding="utf-8")


def _read(file: Path) -> str:
    opening = gzip.open if file.suffix == ".gz" else open
    try:
        with opening(file, "rt", encoding="utf-8") as stream:
            text = stream.read(_MOST_CHARACTERS)
        return _joined(text) if ".jsonl" in file.suffixes else text
    except (OSError, ValueError) as error:
        raise InputFileError(
            f"expected a UTF-8 text in {file}: {error}; name another file"
        ) from error


def _joined(lines: str) -> str:
    """The strings in the JSON object on each line, all but its `id`.

    What follows the last line end is left out: reading may have stopped inside a line.
    """
    rows = [json.loads(line) for line in lines.split("\n")[:-1] if line]
    return "\n".join(
        "".join(value for name, value in row.items() if name != "id" and isinstance(value, str))
        for row in rows
    )
