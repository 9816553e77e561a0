"""Texts for people are made in few places, which escape what a terminal obeys and what is no character: no other code
prints, warns, logs, or turns bytes of a name into a text of its own."""

import ast
import pathlib
import re
from collections.abc import Iterator

import pytest

from tests.conftest import ROOT

# By file, what may stand there: it makes texts printable itself, or says nothing but words of our own.
IN_PYTHON = {
    "python/headrace/_arguments/printed.py": {"print"},
    "python/headrace/_arguments/doubts.py": {"warnings.warn_explicit"},
    "python/headrace/_runs/log.py": {"logging.getLogger", "logging.NullHandler"},
    "python/headrace/mx/message_log.py": {"logging.getLogger"},
    "python/headrace/mx/recordio.py": {"warnings.warn"},
    # JSON in ASCII, for the process that started it.
    "python/headrace/_operators/conformance/conductor.py": {"sys.stdout.write"},
}
PRINTS = re.compile(
    r"print|pprint(?:\.pprint)?|sys\.(?:__)?std(?:out|err)(?:__)?(?:\.buffer)?\.write(?:lines)?"
    r"|warnings\.(?:warn\w*|showwarning)|logging\.\w+|traceback\.print_\w+|faulthandler\.dump_\w+"
)

ENGINE = ("core", "engine", "io", "ir", "kernels", "ops", "plugin", "python/binding")
IN_CPP = {
    # A status with a message: others are made by MakeError.
    r"\babsl::Status(?:\s+\w+)?\(\s*(?:[\w.<>()\[\]-]*\bcode\b(?:\(\))?|absl::StatusCode::\w+)\s*,"
    r"|\babsl::(?!Is)[A-Z]\w*Error\(": {
        "core/error.cc",
        # They copy one.
        "ops/rows/separate_copy.h",
        "python/binding/process/process_pool.cc",
        "python/binding/process/wire.cc",
    },
    # Texts of Python: others are made by MessageText, MessageLine and NameText.
    r"\bPyUnicode_(?:Decode\w*|From\w*)\(": {
        "python/binding/values/python_text.cc",
        "python/binding/values/tensor_binding.cc",
        "python/binding/values/value_conversion.cc",
    },
    r"\b(?:py|pybind11)::(?:value|type|key|index)_error\(": {"python/binding/values/python_text.h"},
    r"\bPySys_(?:Write|Format)\w+\(|\bPyErr_(?:Format|WarnFormat)\w*\(": {
        "python/binding/host/user_calls.cc",
        "python/binding/process/process_pool.cc",
    },
    # Faults of our own declarations, and of loops.
    r"\bstd::(?:cout|cerr|clog)\b|\b(?:v?f?printf|fputs|puts|perror)\(|\bSTDERR_FILENO\b": {
        "core/cpu_targets.cc",
        "ir/attributes.cc",
        "ir/declaration.cc",
    },
}


def code_of(text: str) -> str:
    """Without comments; texts are empty."""
    kept = re.compile(r"""//[^\n]*|R"\(.*?\)"|'(?:\\.|[^'\\\n])'|"(?:\\.|[^"\\\n])*\"""", re.DOTALL)
    return kept.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def printed_in_python(text: str) -> set[str]:
    calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    return {name for name in (ast.unparse(call.func) for call in calls) if PRINTS.fullmatch(name)}


def engine_sources() -> Iterator[pathlib.Path]:
    for room in ENGINE:
        for path in sorted((ROOT / room).rglob("*")):
            tests = path.stem.endswith(("_test", "_fuzz")) or "testing" in path.relative_to(ROOT).parts
            if path.suffix in (".cc", ".h") and not tests:
                yield path


def test_the_package_prints_in_few_places() -> None:
    found = {}
    for path in sorted((ROOT / "python/headrace").rglob("*.py")):
        if printed := printed_in_python(path.read_text()):
            found[str(path.relative_to(ROOT))] = printed
    assert found == IN_PYTHON, "print by headrace._arguments.printed, warn by warn_once"


def test_the_engine_makes_texts_in_few_places() -> None:
    sources = {str(path.relative_to(ROOT)): code_of(path.read_text()) for path in engine_sources()}
    for pattern, places in IN_CPP.items():
        found = {path for path, code in sources.items() if re.search(pattern, code)}
        assert found == places, f"make these texts by core/error.h, core/printable.h or python_text.h: {pattern}"


@pytest.mark.parametrize(
    "text",
    ["print(name)", "sys.stderr.write(name)", "warnings.warn(name)", "logging.warning(name)", "traceback.print_exc()"],
)
def test_printing_is_found_in_the_package(text: str) -> None:
    assert printed_in_python(text) and not printed_in_python(f"say({text!r})")


@pytest.mark.parametrize(
    "text",
    [
        "return absl::Status(error.code(), message);",
        "absl::Status wrong(absl::StatusCode::kInternal, message);",
        "return absl::NotFoundError(path);",
        "return PyUnicode_FromString(name);",
        "throw py::value_error(Cat(name));",
        "PySys_WriteStderr(format, name);",
        "std::cerr << name;",
        "std::fprintf(stderr, format, name);",
    ],
)
def test_texts_of_the_engine_are_found(text: str) -> None:
    assert sum(bool(re.search(pattern, code_of(text))) for pattern in IN_CPP) == 1
    assert not any(re.search(pattern, code_of(f"// {text}")) for pattern in IN_CPP)
