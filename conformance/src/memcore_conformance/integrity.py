"""Tells whether the suite that runs is the suite that was installed: nothing of it was replaced meanwhile.

The source of every module is compiled again; each function in the running module is compared with its code, and each
imported name with what it names. What was patched, by a conftest, a plugin or the adapter itself, is named.
"""

from __future__ import annotations

import ast
import inspect
import sys
from functools import cached_property
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING

import memcore_conformance
from memcore_conformance.catalogue import Case

if TYPE_CHECKING:
    from collections.abc import Iterator


def altered() -> list[str]:
    """Return the names in the loaded suite that are not what their source says."""
    package = memcore_conformance.__name__
    modules = [module for name, module in sorted(sys.modules.items()) if name.partition(".")[0] == package]
    return [f"{module.__name__}.{name}" for module in modules for name in _altered_in(module)]


def _altered_in(module: ModuleType) -> Iterator[str]:
    source = inspect.getsource(module)
    compiled = compile(source, str(module.__file__), "exec", dont_inherit=True)
    yield from _differences(compiled, vars(module), prefix="")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module in sys.modules:
            yield from _rebound(node, module)


def _rebound(node: ast.ImportFrom, module: ModuleType) -> Iterator[str]:
    """Compare what was imported with what it names now; names for type checkers alone are not there."""
    origin = sys.modules[str(node.module)]
    for alias in node.names:
        name = alias.asname or alias.name
        if name in vars(module) and vars(module)[name] is not getattr(origin, alias.name, None):
            yield name


def _differences(compiled: CodeType, living: dict[str, object], *, prefix: str) -> Iterator[str]:
    """Compare the functions and classes that a body of code defines with those that live under their names."""
    for code in compiled.co_consts:
        if not isinstance(code, CodeType) or code.co_name.startswith("<"):
            continue
        part = living.get(code.co_name)
        is_class = not code.co_flags & inspect.CO_OPTIMIZED
        if is_class and isinstance(part, type):
            yield from _differences(code, dict(vars(part)), prefix=f"{prefix}{code.co_name}.")
        elif code not in _codes(part):
            yield prefix + code.co_name


def _codes(part: object) -> list[CodeType]:
    """Return the code of a function, under whatever a decorator made of it."""
    if isinstance(part, Case):
        return _codes(part.function)
    if isinstance(part, property):
        return [*_codes(part.fget), *_codes(part.fset)]
    if isinstance(part, cached_property):
        return _codes(part.func)
    if isinstance(part, (staticmethod, classmethod)):
        return _codes(part.__func__)
    function = inspect.unwrap(part) if callable(part) else None
    return [function.__code__] if isinstance(function, FunctionType) else []
