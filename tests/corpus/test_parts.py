"""Parts of the same scan are found again, those of another or damaged ones are not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ticore.corpus import Result
from ticore.corpus.base import Problem, Text
from ticore.corpus.parts import Parts, digest_of_texts
from ticore.errors import FileError

TEXTS = digest_of_texts(["a", "b"])
RESULTS = [Result(p_value=0.1 + 0.2, tokens=3, error="é\ud800"), Result()]


def opened(folder: Path, digest: str = "a") -> tuple[Parts, list[str]]:
    said: list[str] = []
    return Parts(folder / "out.jsonl", digest, said.append), said


def kept(folder: Path, number: int = 1) -> Path:
    """The file of a part, of a scan that has ended."""
    with opened(folder)[0] as parts:
        parts.put(number, TEXTS, RESULTS)
        return parts.folder / f"{number:06}.json"


def test_parts_are_found_again(tmp_path: Path) -> None:
    with opened(tmp_path)[0] as parts:
        parts.put(7, TEXTS, RESULTS)
        assert parts.holds(7, TEXTS)
    again, said = opened(tmp_path)
    assert said == ["going on: 1 batch was scanned before"]
    assert again.holds(7, TEXTS)
    assert again.get(7, TEXTS) == RESULTS
    assert not again.holds(6, TEXTS)
    assert again.get(6, TEXTS) is None
    assert again.refused == 0
    again.remove()
    assert list(tmp_path.iterdir()) == []


def test_parts_of_another_scan_are_dropped(tmp_path: Path) -> None:
    kept(tmp_path)
    parts, said = opened(tmp_path, "b")
    assert said == ["the input or a setting is another than before: starting anew"]
    assert not parts.holds(1, TEXTS)


def test_parts_of_other_texts_or_places(tmp_path: Path) -> None:
    part = kept(tmp_path)
    part.with_name("000002.json").write_bytes(part.read_bytes())
    with opened(tmp_path)[0] as parts:
        assert not parts.holds(1, digest_of_texts(["a", "c"]))
        assert not parts.holds(2, TEXTS)
        assert parts.refused == 2
    data = part.read_bytes()
    with opened(tmp_path, "b")[0] as parts:
        part.write_bytes(data)
        assert not parts.holds(1, TEXTS)


@pytest.mark.parametrize("manifest", ["", "[]", "{}", "broken", "[" * 5000, "3" * 5000])
def test_a_damaged_manifest(tmp_path: Path, manifest: str) -> None:
    kept(tmp_path).with_name("manifest.json").write_text(manifest)
    assert not opened(tmp_path)[0].holds(1, TEXTS)


@pytest.mark.parametrize(
    "content",
    ["", "broken", "3", "[" * 5000, '[[null, 0.5, 1, 1, 1, 1, 1, 1, 1, "\\ud800"]]', "\n\n[]"],
)
def test_a_damaged_part_is_as_good_as_absent(tmp_path: Path, content: str) -> None:
    """Also one of a version that kept no digest."""
    kept(tmp_path).write_text(content)
    parts, _ = opened(tmp_path)
    assert not parts.holds(1, TEXTS)
    assert parts.refused == 1
    assert parts.get(1, TEXTS) is None


@given(at=st.integers(0, 10**6), flipped=st.integers(1, 255), cut=st.booleans(), more=st.booleans())
@example(at=64, flipped=1, cut=False, more=False)  # the line end behind the digest
def test_no_damage_is_believed(
    tmp_path_factory: pytest.TempPathFactory, at: int, flipped: int, cut: bool, more: bool
) -> None:
    folder = tmp_path_factory.getbasetemp() / "damaged"
    folder.mkdir(exist_ok=True)
    part = kept(folder)
    data = bytearray(part.read_bytes())
    data[at % len(data)] ^= flipped
    if cut:
        data = data[: at % len(data)]
    part.write_bytes(bytes(data) + b"\n" * more)
    with opened(folder)[0] as parts:
        assert not parts.holds(1, TEXTS)


TEXT_LISTS = st.lists(st.text() | st.builds(Problem, st.text()), max_size=4)


@given(one=TEXT_LISTS, other=TEXT_LISTS)
@example(one=["a", "b"], other=["ab"])
@example(one=["at1\nb"], other=["a", "b"])
@example(one=["a"], other=[Problem("a")])
@example(one=["\ud800"], other=["\udc00"])
def test_digests_tell_texts_apart(one: list[Text], other: list[Text]) -> None:
    assert (digest_of_texts(one) == digest_of_texts(other)) == (one == other)


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    parts, _ = opened(tmp_path)
    (parts.folder / ".ticore-0123456789abcdef.tmp").touch()
    parts.remove()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("put", [False, True])
def test_a_failure_leaves_the_folder_where_it_holds_something(tmp_path: Path, put: bool) -> None:
    def fail() -> None:
        with opened(tmp_path)[0] as parts:
            if put:
                parts.put(1, TEXTS, RESULTS)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    names = {path.name for path in tmp_path.rglob("*")}
    assert names == ({"out.jsonl.parts", "manifest.json", "000001.json"} if put else set())


def test_a_folder_with_another_purpose_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "out.jsonl.parts"
    folder.mkdir()
    (folder / "mine").touch()
    with pytest.raises(FileError, match="found something else"):
        opened(tmp_path)
    assert [path.name for path in folder.iterdir()] == ["mine"]


def test_a_place_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "out.jsonl.parts").touch()
    with pytest.raises(FileError, match=r"cannot use .*out\.jsonl\.parts"):
        opened(tmp_path)
    with pytest.raises(FileError, match="cannot use"):
        opened(tmp_path / "missing")
    with pytest.raises(FileError, match="cannot use"):
        opened(tmp_path / "a\0b")


def test_one_scan_at_a_time(tmp_path: Path) -> None:
    parts, _ = opened(tmp_path)
    parts.put(1, TEXTS, RESULTS)
    with pytest.raises(FileError, match=r"no other scan that writes .*out\.jsonl, found one"):
        opened(tmp_path)
    assert parts.get(1, TEXTS) == RESULTS
    parts.close()
    assert opened(tmp_path)[0].holds(1, TEXTS)


HOLDER = """
import sys
from pathlib import Path
from ticore.corpus.parts import Parts
parts = Parts(Path(sys.argv[1]) / "out.jsonl", "a", print)
print("there", flush=True)
sys.stdin.read()
"""


def test_the_lock_ends_with_its_process(tmp_path: Path) -> None:
    """However it ends: a process that is killed leaves the file, which holds nobody up."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"there\n"
        with pytest.raises(FileError, match=rf"\((process {holder.pid}|another process)\)"):
            opened(tmp_path)
        holder.kill()
        holder.wait()
    assert (tmp_path / "out.jsonl.parts" / "lock").exists()
    opened(tmp_path)[0].remove()
    assert list(tmp_path.iterdir()) == []
