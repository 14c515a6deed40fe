"""Prints the public interface of memcore, read from its source: a change of it must change `public_api.txt` too.

python packages/memcore/tests/public_api.py > packages/memcore/tests/public_api.txt
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import memcore

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = Path(memcore.__file__).parent


def describe_package() -> Iterator[str]:
    """Yield one line for each public name of each public module, and for each member of a public class."""
    for path in sorted(SOURCE.rglob("*.py")):
        module = ".".join(("memcore", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            for line in _describe(node):
                yield f"{module}.{line}"


def _describe(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.ClassDef) and _is_public(node.name):
        bases = [ast.unparse(part) for part in (*node.bases, *node.keywords)]
        yield f"{node.name}: {_decorators(node)}class({', '.join(bases)})"
        for member in node.body:
            for line in _describe(member):
                yield f"{node.name}.{line}"
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _is_public(node.name):
        prefix = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
        result = ast.unparse(node.returns) if node.returns else "?"
        yield f"{node.name}: {_decorators(node)}{prefix}({ast.unparse(node.args)}) -> {result}"
    elif isinstance(node, ast.AnnAssign) and _is_public(ast.unparse(node.target)):
        default = " = ..." if node.value else ""
        yield f"{ast.unparse(node.target)}: {ast.unparse(node.annotation)}{default}"
    elif isinstance(node, ast.Assign) and _is_public(ast.unparse(node.targets[0])):
        yield f"{ast.unparse(node.targets[0])} = {ast.unparse(node.value)}"


def _decorators(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    return "".join(f"@{ast.unparse(decorator)} " for decorator in node.decorator_list)


def _is_public(name: str) -> bool:
    return not name.startswith("_") or name == "__init__"


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in describe_package())
