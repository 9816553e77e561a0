"""The C library: what it exports and needs, programs that are built with it, and its life beside the Python module."""

import ctypes
import os
import pathlib
import re
import shutil
import subprocess
from hashlib import sha256

import numpy as np
import pytest
from conftest import ROOT, run_python

import headrace as hr
from headrace import vision as V

PHOTO = next((ROOT / "examples/photos").rglob("*.jpg"))
EXAMPLE = ROOT / "examples/serve/c"
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
# What stays as it is, by its SHA-256.
FIRST = {
    "headrace.h": "873f4fce64372486ef2a13ce4da0d2420bb15d84fae78045abc1893009279d64",
    "pipeline_program.c": "b0c3fca89f352f8cbd617cf2f06946064b28327916513ea4432e563dd5b8ad24",
    "program.c": "88f6baead099733b3283895881e9b9fcc95282c10a9b9ce78319f5186e3e8f53",
}


def library() -> pathlib.Path:
    return pathlib.Path(hr.library_dir()) / "libheadrace.so"


def picture_graph() -> hr.InferenceGraph:
    kernels = [V.Decode(), V.Resize(40), V.CenterCrop(32), V.Normalize([127.5] * 3, [64.0] * 3), V.HWC2CHW()]
    return hr.InferenceGraph(kernels, {"image": "bytes"})


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    path = tmp_path_factory.mktemp("graph") / "preprocessing.hrg"
    picture_graph().save(path)
    return path


def output_of(*command: object) -> str:
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def test_it_exports_what_the_list_says():
    listed = set(re.findall(r"^    (\w+);$", (ROOT / "capi/libheadrace.lds").read_text(), re.MULTILINE))
    header = pathlib.Path(hr.include_dir(), "headrace.h").read_text()
    declared = set(re.findall(r"^HR_EXPORT [^(]*?(\w+)\(", header, re.MULTILINE))
    assert {name for name in declared if not name.startswith("hr_pipeline")} == listed
    of_engine = (ROOT / "capi/pipeline/libheadrace_engine.lds").read_text()
    assert declared == set(re.findall(r"^    (\w+);$", of_engine, re.MULTILINE))
    symbols = output_of("nm", "--dynamic", "--defined-only", "--with-symbol-versions", library()).splitlines()
    # Weak ones are functions of the standard library, of which any copy serves; small letters mark what is local.
    exported = {line.split()[-1] for line in symbols if line.split()[-2] in "ABDRT"} - {"HEADRACE_1"}
    weak = output_of("nm", "--dynamic", "--defined-only", "--demangle", library())
    assert all(" std::" in line for line in weak.splitlines() if " W " in line or " V " in line)
    assert exported - {"HEADRACE_1@@HEADRACE_1"} == {f"{name}@@HEADRACE_1" for name in listed}


def structures_of(header: str) -> dict[str, list[str]]:
    """The fields of each structure, by its name."""
    without_comments = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    found = re.findall(r"typedef struct (\w+) \{(.*?)\} \1;", without_comments, re.DOTALL)
    return {name: re.findall(r"(\w+)(?:\[\w+\])?;", fields) for name, fields in found}


def layout_of(folder: pathlib.Path, header: pathlib.Path, structures: dict[str, list[str]]) -> list[str]:
    lines = [
        f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), sizeof(({name}*)0)->{field});'
        for name, fields in structures.items()
        for field in fields
    ]
    source = folder / "layout.c"
    source.write_text(f'#include <stdio.h>\n#include "{header}"\nint main(void) {{ {" ".join(lines)} }}\n')
    subprocess.run(["gcc", "-std=c99", *STRICT, source, "-o", folder / "layout"], check=True)
    return output_of(folder / "layout").splitlines()


def test_what_the_first_header_declares_stays(tmp_path):
    first, today = ROOT / "capi/first_header/headrace.h", ROOT / "capi/headrace.h"
    structures = structures_of(first.read_text())
    assert set(structures) == {"hr_tensor", "hr_open_options", "hr_column", "hr_option", "hr_pipeline_options"}
    assert sum(map(len, structures.values())) == 34
    assert layout_of(tmp_path, first, structures) == layout_of(tmp_path, today, structures)
    for kept in [r"HR_EXPORT [^;]+;", r"\bHR_\w+ = \d+", r"#define HR_MOST_AXES \d+"]:
        before, now = (
            {" ".join(text.split()) for text in re.findall(kept, each.read_text())} for each in (first, today)
        )
        assert before and before <= now, before - now


def test_the_first_header_and_its_programs_stay():
    """They stand for programs that were built long ago, which no edit of ours reaches."""
    assert {name: sha256((ROOT / "capi/first_header" / name).read_bytes()).hexdigest() for name in FIRST} == FIRST


def test_it_needs_nothing_of_python_and_no_gpu():
    dynamic = output_of("readelf", "--dynamic", library())
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic)
    assert needed and not [
        name for name in needed if re.match(r"libpython|libcuda|libnv|libtiff|libtbb|libprotobuf\.", name)
    ]
    assert "Library soname: [libheadrace.so]" in dynamic
    assert "NODELETE" in dynamic


def test_it_has_all_kernels_in_few_megabytes():
    assert library().stat().st_size <= 4_500_000


def test_the_clone_has_the_headers_of_its_sources():
    for name in ["headrace.h", "headrace.hpp"]:
        assert (pathlib.Path(hr.include_dir()) / name).read_bytes() == (ROOT / "capi" / name).read_bytes()


@pytest.mark.parametrize(
    ("compiler", "standard", "include"),
    [
        ("gcc", "c99", "headrace.h"),
        ("gcc", "c11", "headrace.h"),
        ("g++", "c++17", "headrace.h"),
        ("g++", "c++17", "headrace.hpp"),
        ("g++", "c++20", "headrace.hpp"),
    ],
)
def test_the_headers_compile_strictly(tmp_path, compiler, standard, include):
    source = tmp_path / ("one.c" if compiler == "gcc" else "one.cc")
    source.write_text(
        f"#include <{include}>\n#include <{include}>\nint main(void) {{ return hr_abi() != HEADRACE_ABI; }}\n"
    )
    program = tmp_path / "one"
    command = [compiler, f"-std={standard}", *STRICT, f"-I{hr.include_dir()}", source, f"-L{hr.library_dir()}"]
    output_of(*command, "-lheadrace", f"-Wl,-rpath,{hr.library_dir()}", "-o", program)
    output_of(program)


def test_code_without_exceptions_takes_the_header(tmp_path):
    source = tmp_path / "one.cc"
    source.write_text('#include <headrace.hpp>\nint main() { return hr::Graph::Open("none").ok() ? 1 : 0; }\n')
    output_of("g++", "-std=c++17", "-fno-exceptions", *STRICT, f"-I{hr.include_dir()}", "-fsyntax-only", source)


@pytest.fixture(scope="module")
def prepare(tmp_path_factory):
    """The example, built by its own CMake project."""
    build = tmp_path_factory.mktemp("build")
    output_of("cmake", "-S", EXAMPLE, "-B", build, f"-DCMAKE_PREFIX_PATH={os.path.dirname(hr.library_dir())}")
    output_of("cmake", "--build", build)
    return build / "prepare"


def test_pkg_config_says_how_to_build():
    if shutil.which("pkg-config") is None:
        text = (pathlib.Path(hr.library_dir()).parent / "share/pkgconfig/headrace.pc").read_text()
        assert f"Version: {hr.__version__}" in text
        return
    environment = {**os.environ, "PKG_CONFIG_PATH": f"{os.path.dirname(hr.library_dir())}/share/pkgconfig"}

    def asked(*options: str) -> str:
        command = ["pkg-config", *options, "headrace"]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.strip()

    assert asked("--modversion") == hr.__version__
    folders = re.findall(r"-[IL](\S+)", asked("--cflags", "--libs"))
    assert [os.path.realpath(folder) for folder in folders] == [
        os.path.realpath(folder) for folder in (hr.include_dir(), hr.library_dir())
    ]
    assert "-lheadrace" in asked("--libs")


def test_the_example_gives_the_bytes_of_python(prepare, graph, tmp_path):
    for picture in sorted((ROOT / "examples/photos").rglob("*.jpg")):
        out = tmp_path / "out"
        assert output_of(prepare, graph, picture, out) == "float32 (3, 32, 32)\n"
        assert out.read_bytes() == picture_graph()(picture.read_bytes()).tobytes()


@pytest.mark.parametrize(
    ("given", "picture", "said"),
    [
        ("none.hrg", PHOTO, "none.hrg"),
        (PHOTO, PHOTO, PHOTO.name),
        ("graph", "none.jpg", "cannot read none.jpg"),
        ("graph", __file__, "Decode"),
    ],
)
def test_the_example_says_what_is_wrong(prepare, graph, tmp_path, given, picture, said):
    command = [prepare, graph if given == "graph" else given, picture, tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("prepare: ") and said in done.stderr
    assert not (tmp_path / "out").exists()


def test_the_example_loses_no_memory(prepare, graph, tmp_path):
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    # Headrace's kernels for newer CPUs are chosen by what valgrind emulates.
    command = ["valgrind", "--quiet", "--leak-check=full", "--error-exitcode=9"]
    done = subprocess.run([*command, prepare, graph, PHOTO, tmp_path / "out"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out").read_bytes() == picture_graph()(PHOTO.read_bytes()).tobytes()
    cut = tmp_path / "cut.jpg"
    cut.write_bytes(PHOTO.read_bytes()[:5000])
    done = subprocess.run([*command, prepare, graph, cut, tmp_path / "out"], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("prepare: "), done.stderr


def test_a_process_has_one_thread(graph):
    code = f"""
import ctypes, os
library = ctypes.CDLL({str(library())!r})
assert len(os.listdir("/proc/self/task")) == 1
assert library.hr_abi() == 1
"""
    done = run_python(code)
    assert done.returncode == 0, done.stderr


# The structures of headrace.h, and a request through them.
CALL = """
import ctypes

class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("verify", ctypes.c_uint32), ("path", ctypes.c_char_p),
                ("bytes", ctypes.c_char_p), ("byte_count", ctypes.c_uint64)]

class Tensor(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("dtype", ctypes.c_int32), ("axes", ctypes.c_int32),
                ("reserved", ctypes.c_int32), ("shape", ctypes.c_int64 * 32), ("data", ctypes.c_void_p),
                ("bytes", ctypes.c_uint64), ("offsets", ctypes.c_void_p), ("owner", ctypes.c_void_p)]

def load(path):
    library = ctypes.CDLL(path)
    for name in ["hr_open", "hr_run"]:
        getattr(library, name).restype = ctypes.c_void_p
    library.hr_status_text.restype = ctypes.c_char_p
    library.hr_status_text.argtypes = [ctypes.c_void_p]
    library.hr_run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t]
    return library

def prepared(library, path, picture):
    graph = ctypes.c_void_p()
    status = library.hr_open(ctypes.byref(Options(ctypes.sizeof(Options), 0, path)), ctypes.byref(graph))
    assert status is None, library.hr_status_text(status)
    held = ctypes.create_string_buffer(picture, len(picture))
    given = Tensor(ctypes.sizeof(Tensor), 14, data=ctypes.addressof(held), bytes=len(picture))
    result = Tensor(ctypes.sizeof(Tensor))
    status = library.hr_run(graph, ctypes.byref(given), 1, ctypes.byref(result), 1)
    assert status is None, library.hr_status_text(status)
    return ctypes.string_at(result.data, result.bytes)
"""


@pytest.mark.parametrize("order", ["c first", "python first"])
def test_both_libraries_live_in_one_process(graph, order):
    load = f"library = load({str(library())!r})"
    steps = [load, "import headrace as hr"] if order == "c first" else ["import headrace as hr", load]
    code = "\n".join(
        [
            CALL,
            *steps,
            f"picture = open({str(PHOTO)!r}, 'rb').read()",
            f"path = {os.fsencode(graph)!r}",
            "prepare = hr.InferenceGraph.from_bytes(open(path, 'rb').read())",
            "for _ in range(3):",
            "    assert prepared(library, path, picture) == prepare(picture).tobytes()",
            "    assert sum(int(row['value']) for row in hr.Range(20)) == 190",
        ]
    )
    done = run_python(code)
    assert done.returncode == 0, done.stderr


def test_a_model_prepares_its_own_input(prepare, tmp_path):
    """Beside a model of another format."""
    model = tmp_path / "model.bin"
    model.write_bytes(b"weights")
    picture_graph().attach(f"{model}.hrg")
    out = tmp_path / "out"
    assert output_of(prepare, model, PHOTO, out) == "float32 (3, 32, 32)\n"
    assert np.array_equal(
        np.frombuffer(out.read_bytes(), np.float32).reshape(3, 32, 32), picture_graph()(PHOTO.read_bytes())
    )


def test_opening_verifies(tmp_path):
    model = tmp_path / "model.bin"
    model.write_bytes(b"weights")
    picture_graph().attach(f"{model}.hrg")
    code = f"""{CALL}
library = load({str(library())!r})
graph = ctypes.c_void_p()
status = library.hr_open(ctypes.byref(Options(ctypes.sizeof(Options), 1, {os.fsencode(model)!r})), ctypes.byref(graph))
print("" if status is None else library.hr_status_text(status).decode())
"""
    done = run_python(code)
    assert done.stdout == "\n", done.stdout + done.stderr
    sidecar = pathlib.Path(f"{model}.hrg")
    changed = re.sub(r'(crc32c\\": \\")[0-9a-f]{8}', r"\g<1>00000000", sidecar.read_text())
    assert changed != sidecar.read_text()
    sidecar.write_text(changed)
    said = run_python(code).stdout
    assert "this machine gives another result" in said and "the first step that differs is" in said


def test_where_it_is_not_built_the_error_says_what_to_run(monkeypatch):
    from headrace._operators import c_library

    monkeypatch.setattr(c_library, "_ROOT", "/no/such/folder")
    with pytest.raises(hr.UnsupportedError, match="run tools/setup/setup"):
        hr.include_dir()
    with pytest.raises(hr.UnsupportedError, match="run tools/setup/setup"):
        hr.library_dir()


def test_a_library_that_is_opened_twice_is_one():
    assert ctypes.CDLL(str(library()))._handle == ctypes.CDLL(str(library()))._handle
