"""Measures of the code that may only fall, and the command that writes their newest values to tests/ratchets.json.

python -m tests.support.ratchets            write the values of today, where they fell
python -m tests.support.ratchets --all      write the values of today, also where they rose: say why in the commit
"""

import ast
import io
import json
import re
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE = ROOT / "tests" / "ratchets.json"
READERS = ("graphmem/text", "graphmem/language", "graphmem/offline")
"""Packages that read language."""
FEWEST_WORDS = 3
"""English words from which a constant is a list of words."""
REGEX_CALLS = {"compile", "search", "match", "fullmatch", "findall", "finditer", "sub", "subn", "split"}
WORD = re.compile(r"[a-z]{2,}(?:'[a-z]+)?", re.IGNORECASE)
WEIGHTS = (".onnx", ".npz", ".npy")


def measures() -> dict[str, int]:
    """Measure the code as it is now.

    Returns
    -------
    `regexes` and `words_in_lists` of the packages that read language; `repeated_names`: names, private ones too, that
    two modules of the product define at their top level; `code_lines PACKAGE`; `onnx_files`; `weight_folders`
    """
    readers = [path for folder in READERS for path in _modules(folder)]
    names = defaultdict[str, set[Path]](set)
    lines = Counter[str]()
    for path in [*_modules("graphmem"), *_modules("api"), *_modules("client")]:
        for name in _defined(path):
            names[name].add(path)
    for path in [*_modules("graphmem"), *_modules("api"), *_modules("client"), *_modules("scripts")]:
        parts = path.relative_to(ROOT).parts
        package = "/".join(parts[:2]) if parts[0] == "graphmem" and len(parts) > 2 else parts[0]
        lines[package] += code_lines(path)
    weights = [path for path in (ROOT / "graphmem").rglob("*") if path.suffix in WEIGHTS]
    return {
        "regexes": sum(map(_regexes, readers)),
        "words_in_lists": sum(map(_listed_words, readers)),
        "repeated_names": sum(len(places) > 1 for places in names.values()),
        "onnx_files": sum(path.suffix == ".onnx" for path in weights),
        "weight_folders": len({path.parent for path in weights if "weights" in path.parts}),
        **{f"code_lines {package}": count for package, count in sorted(lines.items())},
    }


def code_lines(path: Path) -> int:
    """Count the lines of a module that hold code: no docstring, no comment, no blank line."""
    strings = {
        number
        for node in ast.walk(_tree(path))
        for statement in _body(node)
        if isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
        for number in range(statement.lineno, (statement.end_lineno or 0) + 1)
    }
    silent = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    found = {
        number
        for token in tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline)
        if token.type not in silent
        for number in range(token.start[0], token.end[0] + 1)
    }
    return len(found - strings)


def _body(node: ast.AST) -> list[ast.stmt]:
    body = getattr(node, "body", None)
    return body if isinstance(body, list) else []


def _modules(folder: str) -> list[Path]:
    return [path for path in sorted((ROOT / folder).rglob("*.py")) if "generated" not in path.name]


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def _defined(path: Path) -> Iterator[str]:
    for node in _tree(path).body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name) and target.id != "__all__")
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name


def _regexes(path: Path) -> int:
    """Calls of the module `re`."""
    return sum(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in REGEX_CALLS
        for node in ast.walk(_tree(path))
    )


def _listed_words(path: Path) -> int:
    """English words in the constants of a module that hold three or more, patterns included."""
    total = 0
    for node in _tree(path).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            texts = [each.value for each in ast.walk(node.value) if isinstance(each, ast.Constant)]
            words = [word for text in texts if isinstance(text, str) for word in WORD.findall(text)]
            total += len(words) if len(words) >= FEWEST_WORDS else 0
    return total


def main() -> None:
    """Write the measures of today; of those that rose only with --all."""
    held = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    now = measures()
    kept = now if "--all" in sys.argv else {name: min(count, held.get(name, count)) for name, count in now.items()}
    FILE.write_text(json.dumps(kept, indent=2) + "\n", "utf-8")
    for name, count in now.items():
        if count != held.get(name):
            print(f"{name}: {held.get(name, '-')} -> {count}{'' if kept[name] == count else ', not written'}")


if __name__ == "__main__":
    main()
