"""Files are opened in one place of the engine and in one of the package: no other code may follow a link, wait for a pipe
or write to what somebody else has put there."""

import ast
import pathlib
import re
from collections.abc import Iterator

import pytest

from tests.conftest import ROOT

ENGINE = ("core", "engine", "io", "ir", "kernels", "ops", "plugin", "python/binding")
ENGINE_DOOR = "io/files/opened_file.cc"
PACKAGE_DOOR = "python/headrace/_files/opened_file.py"

COMMENT_OR_TEXT = re.compile(r"""//[^\n]*|/\*.*?\*/|R"\(.*?\)"|'(?:\\.|[^'\\\n])'|"(?:\\.|[^"\\\n])*\"""", re.DOTALL)
OPENS_IN_CPP = re.compile(
    r"(?<![\w.>:])(?:::)?(?:open|open64|openat|openat64|openat2|creat|creat64|fopen|fopen64|freopen|tmpfile|mkstemp|mkstemps"
    r"|mkostemp|mkostemps|mkdtemp|shm_open|truncate)\s*\("
    r"|\bO_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND|TMPFILE)\b"
    r"|\b[io]?fstream\b|\bfilebuf\b"
    r"|\bfilesystem::(?:copy\w*|create_(?:hard_link|symlink|directory_symlink)|resize_file)\b"
)

# By the name that is called, or the last part of it.
OPENS_IN_PYTHON = {"open", "io.open", "os.open", "codecs.open", "gzip.open", "bz2.open", "lzma.open"}
METHODS = {"write_text", "write_bytes", "read_text", "read_bytes", "touch", "symlink_to", "hardlink_to", "tofile"}
OTHERS = re.compile(
    r"tempfile\.(?!TemporaryDirectory$|mkdtemp$)\w+|shutil\.(?:copy\w*|move)"
    r"|os\.(?:mkfifo|mknod|link|symlink|truncate)"
    r"|(?:np|numpy)\.(?:save\w*|load\w*|fromfile|memmap|genfromtxt)"
    r"|(?:io\.)?FileIO|zipfile\.\w+|tarfile\.\w+|mmap\.open"
)


def code_of(text: str) -> str:
    """Without comments and texts; lines keep their numbers."""
    return COMMENT_OR_TEXT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def opened_in_cpp(text: str) -> list[int]:
    code = code_of(text)
    return [code.count("\n", 0, found.start()) + 1 for found in OPENS_IN_CPP.finditer(code)]


def reads_the_process(call: ast.Call) -> bool:
    """What the system says of this process: no file of anybody's."""
    paths = [*call.args[:1], *([call.func.value] if isinstance(call.func, ast.Attribute) else [])]
    return any(
        isinstance(part, ast.Constant) and str(part.value).startswith("/proc/self/")
        for path in paths
        for part in ast.walk(path)
    )


def opened_in_python(text: str) -> list[int]:
    lines = []
    for call in ast.walk(ast.parse(text)):
        if not isinstance(call, ast.Call):
            continue
        name = ast.unparse(call.func)
        method = isinstance(call.func, ast.Attribute) and call.func.attr in METHODS
        if (name in OPENS_IN_PYTHON or method or OTHERS.fullmatch(name)) and not reads_the_process(call):
            # A folder is opened to be synced.
            if not (name == "os.open" and "O_DIRECTORY" in ast.unparse(call)):
                lines.append(call.lineno)
    return sorted(lines)


def engine_sources() -> Iterator[pathlib.Path]:
    for room in ENGINE:
        for path in sorted((ROOT / room).rglob("*")):
            tests = path.stem.endswith(("_test", "_fuzz")) or "testing" in path.relative_to(ROOT).parts
            if path.suffix in (".cc", ".h", ".hpp") and not tests:
                yield path


def test_the_engine_opens_files_in_one_place() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{line}" for path in engine_sources() for line in opened_in_cpp(path.read_text())
    }
    door = {each for each in found if each.startswith(f"{ENGINE_DOOR}:")}
    assert len(door) == 4  # with flags to write
    assert found == door, f"open these by io/files/opened_file.h, or through a FileSystem: {sorted(found - door)}"


def test_the_package_opens_files_in_one_place() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted((ROOT / "python/headrace").rglob("*.py"))
        for line in opened_in_python(path.read_text())
    }
    door = {each for each in found if each.startswith(f"{PACKAGE_DOOR}:")}
    assert len(door) >= 4
    assert found == door, f"open these by headrace._files: {sorted(found - door)}"


@pytest.mark.parametrize(
    "text",
    [
        "const int file = open(path, flags);",
        "const int file = ::openat(folder, path, flags);",
        "FILE* file = fopen(path, mode);",
        "std::ofstream(path) << text;",
        "std::filesystem::copy_file(a, b);",
        "int flags = O_CREAT;",
        "char* made = mkdtemp(path);",
    ],
)
def test_openings_of_the_engine_are_found(text: str) -> None:
    assert opened_in_cpp(f"// A line.\n{text}\n") == [2]
    assert not opened_in_cpp(f"// {text}\n") and not opened_in_cpp(f'Say("{text}");\n')


@pytest.mark.parametrize("text", ["given.open(call)", "reader->open(call)", "is_open()", "Table::open(call)"])
def test_what_opens_no_file_is_not_found_in_the_engine(text: str) -> None:
    assert not opened_in_cpp(text)


@pytest.mark.parametrize(
    "text",
    [
        "open(path)",
        "open(path, 'wb')",
        "os.open(path, flags)",
        "pathlib.Path(path).write_text(text)",
        "path.read_bytes()",
        "tempfile.NamedTemporaryFile()",
        "np.save(path, array)",
        "array.tofile(path)",
        "shutil.copyfile(a, b)",
    ],
)
def test_openings_of_the_package_are_found(text: str) -> None:
    assert opened_in_python(f"import x\n{text}\n") == [2]


@pytest.mark.parametrize(
    "text",
    [
        "record.open()",
        "os.fdopen(made)",
        "open('/proc/self/statm')",
        "pathlib.Path('/proc/self/io').read_text()",
        "tempfile.TemporaryDirectory()",
        "os.open(folder, os.O_RDONLY | os.O_DIRECTORY)",
    ],
)
def test_what_opens_no_file_of_a_user_is_not_found_in_the_package(text: str) -> None:
    assert not opened_in_python(text)
