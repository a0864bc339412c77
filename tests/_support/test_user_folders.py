"""The usual folders of a user, and none where they are not known."""

from pathlib import Path

import pytest

from ticore._support.user_folders import user_folder


def without_home(application):
    raise RuntimeError("could not determine the home directory")


def without_home_in_old_versions(application):
    return Path("~/.cache") / application


def test_user_folder_is_the_usual_one():
    assert user_folder(lambda application: Path("/usual") / application) == Path("/usual/ticore")


@pytest.mark.parametrize("usual", [without_home, without_home_in_old_versions])
def test_user_folder_is_none_without_a_home_directory(usual):
    assert user_folder(usual) is None
