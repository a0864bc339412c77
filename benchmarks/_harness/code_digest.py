"""The digest of the code that produces samples: samples of other code are not used again.

The code is found from import statements, so no list of files has to be maintained:

1. Start at the module of each root.
2. Follow every import of `ticore`, `ticore_*`, `benchmarks` and the roots' own packages, also
   imports inside functions, and by `import_module` or `require_module` of a name that is written
   out. Imports under `if TYPE_CHECKING:` never run and are left out.
3. A package's `__init__` that only imports, and sets names such as `__all__`, is a table of
   contents. So is one that is lazy: it has a `__getattr__`, and names its exports in imports under
   `if TYPE_CHECKING:`. Only the names that are asked for are followed through it. Example: `from
   ticore import Verifier` leads to `ticore.consistency` and not to `ticore.watermarking`.
4. Any other module counts as a whole, and so does all that it imports.
5. Of the other packages that are imported, such as NumPy, the versions that are installed count.

Comments, docstrings and layout do not count: the digest is of syntax trees without them. It may
differ between Python versions, whose syntax trees differ.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TypeGuard

Request = tuple[str, str | None]
"""A module, and the name that is asked for in it; None asks for the whole module."""

_NOTHING = "__name__"  # asked for where a module is imported: it runs even if nothing is used


def code_digest(*roots: object) -> str:
    """The digest of the code that `roots` use.

    Args:
        roots: functions, classes, modules, or objects, which stand for their class and its package.
            Give a model and its tokenizer besides the function that takes samples: which backend
            opens a model is known only at run time.

    Returns:
        16 hexadecimal digits.
    """
    digest = hashlib.sha256()
    for name, content in sorted(_closure(roots).items()):
        digest.update(f"{name}\n{content}\n".encode())
    return digest.hexdigest()[:16]


def imported_modules(*roots: object) -> set[str]:
    """The names of the modules whose code counts in `code_digest(*roots)`."""
    return {name for name in _closure(roots) if ":" not in name}


@dataclass(frozen=True)
class _Module:
    """A module that was found on disk and not imported."""

    name: str
    is_package: bool
    tree: ast.Module

    @cached_property
    def content(self) -> str:
        """The syntax tree as text."""
        return ast.dump(self.tree, annotate_fields=False)

    @cached_property
    def is_table_of_contents(self) -> bool:
        """Whether this is the `__init__` of a package and does nothing but import, maybe lazily."""
        return self.is_package and all(
            isinstance(node, ast.Import | ast.ImportFrom)
            or (isinstance(node, ast.Assign) and all(map(_is_special, node.targets)))
            or (self.is_lazy and _is_of_lazy_face(node))
            for node in self.tree.body
        )

    @cached_property
    def is_lazy(self) -> bool:
        """Whether names are imported when they are first used."""
        return any(
            isinstance(node, ast.FunctionDef) and node.name == "__getattr__"
            for node in self.tree.body
        )

    @cached_property
    def exports(self) -> dict[str, Request]:
        """The names that `from ... import` binds here, and what each one stands for."""
        return {
            alias.asname or alias.name: (self._base(node), alias.name)
            for node in self._statements()
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }

    def _statements(self) -> Iterator[ast.stmt]:
        """The statements of the module; of a lazy one, with those for type checkers."""
        for node in self.tree.body:
            if self.is_lazy and _is_for_type_checkers(node):
                yield from node.body
            else:
                yield node

    @cached_property
    def requests(self) -> list[Request]:
        """What all imports of this module ask for."""
        return list(self._requests())

    def _requests(self) -> Iterator[Request]:
        for node in _running_nodes(self.tree):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    yield self._base(node), None if alias.name == "*" else alias.name
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    yield alias.name, _NOTHING
                    if alias.asname is None and "." in alias.name:
                        yield alias.name, None
                    else:
                        yield from self._uses(alias.asname or alias.name, alias.name)
            elif isinstance(node, ast.Call) and (name := _imported_by(node)) is not None:
                yield name, None

    def _base(self, node: ast.ImportFrom) -> str:
        """The absolute name of the module that a `from ... import` names."""
        if not node.level:
            return node.module or ""
        parts = self.name.split(".")
        parts = parts[: len(parts) - node.level + self.is_package]
        return ".".join([*parts, *([node.module] if node.module else [])])

    def _uses(self, bound: str, module: str) -> Iterator[Request]:
        """What is read from a module that `import` binds to a name here."""
        nodes = list(ast.walk(self.tree))
        names = [n for n in nodes if isinstance(n, ast.Name) and n.id == bound]
        attributes = [
            n.attr
            for n in nodes
            if isinstance(n, ast.Attribute)
            and isinstance(n.value, ast.Name)
            and n.value.id == bound
        ]
        if len(attributes) < len(names):
            yield module, None  # the module itself is passed on
        for attribute in attributes:
            yield module, attribute


def _closure(roots: tuple[object, ...]) -> dict[str, str]:
    """What counts for `roots`: the content of each module, by its name.

    Names that are followed through a table of contents count as well, as `package:name`: there a
    name may come to stand for something else while no module that is reached changes. Versions
    count as `package:distribution`.
    """
    pending: list[Request] = [(name, None) for root in roots for name in _modules_of(root)]
    followed = {"ticore", "benchmarks"} | {name.partition(".")[0] for name, _ in pending}
    found: dict[str, str] = {}
    seen: set[Request] = set()
    while pending:
        request = pending.pop()
        name, wanted = request
        top = name.partition(".")[0]
        if request in seen:
            continue
        seen.add(request)
        if not (top in followed or top.startswith("ticore_")):
            found.update({f"{top}:{which}": number for which, number in _versions(top)})
            continue
        module = _find(name)
        if module is None:
            continue
        export = None if wanted is None else module.exports.get(wanted)
        if wanted is not None and export is None and _find(f"{name}.{wanted}") is not None:
            pending.append((f"{name}.{wanted}", None))  # the name of a submodule
        if wanted is not None and module.is_table_of_contents:
            if export is not None:
                found[f"{name}:{wanted}"] = ":".join(map(str, export))
                pending.append(export)
            continue
        if name not in found:
            found[name] = module.content
            pending += module.requests
            pending += _parents(name)
    return found


def _versions(package: str) -> Iterator[tuple[str, str]]:
    """The distributions that a package is installed from, with their versions."""
    if package not in sys.stdlib_module_names:
        for distribution in sorted(set(_distributions().get(package, ()))):
            yield distribution, _version(distribution)


@cache
def _distributions() -> Mapping[str, list[str]]:
    return packages_distributions()


@cache
def _version(distribution: str) -> str:
    return version(distribution)


def _parents(name: str) -> Iterator[Request]:
    """Packages around a module that do more than import: Python runs them first."""
    while name := name.rpartition(".")[0]:
        package = _find(name)
        if package is not None and not package.is_table_of_contents:
            yield name, None


def _modules_of(root: object) -> list[str]:
    """The modules to start at."""
    if isinstance(root, ModuleType):
        return [_name_of(root.__name__)]
    if isinstance(root, type) or (callable(root) and hasattr(root, "__qualname__")):
        return [_name_of(root.__module__)]
    name = _name_of(type(root).__module__)
    # What opens a backend's model is imported by its package, not by the class of the model.
    return [name, name.partition(".")[0]]


def _name_of(module: str) -> str:
    """A module's importable name; one that runs as a program is called `__main__`."""
    spec = getattr(sys.modules.get(module), "__spec__", None)
    return spec.name if module == "__main__" and spec is not None else module


def _find(name: str) -> _Module | None:
    top, *rest = name.split(".")
    spec = _top_level(top)
    for folder in spec:
        place = folder.joinpath(*rest)
        for file, is_package in ((place / "__init__.py", True), (place.with_suffix(".py"), False)):
            if file.is_file():
                return _parse(name, file, is_package, file.stat().st_mtime_ns)
    return None


@cache
def _top_level(package: str) -> tuple[Path, ...]:
    """The folders of a top-level package. Looking for them does not import it."""
    spec = find_spec(package)
    return tuple(map(Path, spec.submodule_search_locations or ())) if spec is not None else ()


@lru_cache(maxsize=1024)
def _parse(name: str, file: Path, is_package: bool, _changed: int) -> _Module:
    tree = ast.parse(file.read_bytes())
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            body[:] = [one for one in body if not _is_text(one)]
    return _Module(name, is_package, tree)


def _is_text(node: ast.AST) -> bool:
    """Whether a statement is a docstring, or a string that documents the line before it."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _imported_by(call: ast.Call) -> str | None:
    """The module that a call imports, if it does and its name is written out."""
    called = call.func.attr if isinstance(call.func, ast.Attribute) else None
    called = call.func.id if isinstance(call.func, ast.Name) else called
    if called not in ("import_module", "require_module") or not call.args:
        return None
    name = call.args[0]
    if not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
        return None
    return None if name.value.startswith(".") else name.value


def _is_for_type_checkers(node: ast.AST) -> TypeGuard[ast.If]:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def _is_of_lazy_face(node: ast.stmt) -> bool:
    """Whether a statement only serves to find names: tables of them, and functions for them."""
    if isinstance(node, ast.FunctionDef):
        return node.name in ("__getattr__", "__dir__")
    return isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr) or _is_for_type_checkers(node)


def _running_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those under `if TYPE_CHECKING:`."""
    pending = list(ast.iter_child_nodes(tree))
    while pending:
        node = pending.pop()
        if _is_for_type_checkers(node):
            pending += node.orelse
        else:
            yield node
            pending += ast.iter_child_nodes(node)


def _is_special(target: ast.expr) -> bool:
    """Whether an assignment is to a name such as `__all__` or `__version__`."""
    return isinstance(target, ast.Name) and target.id.startswith("__") and target.id.endswith("__")
