"""The digest of code changes with each of its files."""

import pytest

from ticore._support.code_digest import code_digest


@pytest.fixture
def digest(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "a.py").write_text("1")
    (tmp_path / "inner" / "b.py").write_text("2")

    def of_now():
        code_digest.cache_clear()
        return code_digest(tmp_path)

    return of_now


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "inner" / "b.py").write_text("3"),
        lambda folder: (folder / "c.py").write_text(""),
        lambda folder: (folder / "a.py").rename(folder / "z.py"),
        lambda folder: (folder / "a.py").unlink(),
    ],
    ids=["content", "more", "name", "fewer"],
)
def test_code_digest_changes_with_the_code(change, digest, tmp_path):
    before = digest()
    assert digest() == before
    change(tmp_path)
    assert digest() not in ("", before)


def test_code_digest_is_empty_where_there_is_no_code(tmp_path):
    (tmp_path / "compiled.so").write_text("")
    assert code_digest(tmp_path) == ""
