"""Makes a manylinux wheel from the package files and the engine module, with the shared libraries that it needs.

Run by Bazel (see wheel.bzl). Only glibc, libstdc++, libgcc and NumPy stay outside. What the wheel holds of others is
listed in its bill of materials, with the texts of the licences; a licence that the wheel cannot carry ends the build.
"""

import argparse
import base64
import hashlib
import pathlib
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping

from tools.wheel.bill import NAME, bill_of
from tools.wheel.bundle import Bundled, CannotBundle, bundle_libraries, run
from tools.wheel.debian import NotOfAPackage
from tools.wheel.licences import Licences, NotAllowed, join
from tools.wheel.requirements import metadata_lines, stated_version
from tools.wheel.shipped import OUR_FILE, OURS, FarLibrary, Shipped, find_shipped

# Three folders below that of the libraries.
C_LIBRARIES = ["headrace/c/lib/libheadrace.so", "headrace/c/lib/libheadrace_engine.so"]
FAR_LIBRARY = "headrace/libheadrace_far.so"


def record_line(name: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}"


def metadata_of(version: str, shipped: Shipped) -> str:
    expression = join([OURS, *(component.licence for component in shipped.components)])
    lines = metadata_lines(version, expression, [OUR_FILE, *sorted(shipped.texts)])
    return "\n".join(lines) + "\n"


def write_wheel(
    out: pathlib.Path, version: str, files: Mapping[str, pathlib.Path], licence: pathlib.Path, shipped: Shipped
) -> None:
    """Writes `files` (name inside the wheel -> file) and the metadata; the tags are those of the wheel's name."""
    tag = out.name.removesuffix(".whl").split("-", 2)[2]
    info = f"headrace-{version}.dist-info"
    contents = {name: path.read_bytes() for name, path in sorted(files.items())}
    contents[f"{info}/METADATA"] = metadata_of(version, shipped).encode()
    contents[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: headrace\nRoot-Is-Purelib: false\nTag: {tag}\n"
    ).encode()
    contents[f"{info}/entry_points.txt"] = b"[console_scripts]\nheadrace = headrace.__main__:main\n"
    contents[f"{info}/licenses/{OUR_FILE}"] = licence.read_bytes()
    contents |= {f"{info}/licenses/{name}": text.encode() for name, text in sorted(shipped.texts.items())}
    contents[f"{info}/sboms/{NAME}"] = bill_of(version, OURS, shipped.components)
    record = [record_line(name, data) for name, data in contents.items()] + [f"{info}/RECORD,,"]
    contents[f"{info}/RECORD"] = ("\n".join(record) + "\n").encode()

    with zipfile.ZipFile(out, "w") as archive:
        for name, data in contents.items():
            # A fixed date: the same sources give the same wheel.
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if ".so" in name else 0o100644) << 16
            archive.writestr(entry, data)


def stand_in(argument: str) -> tuple[str, pathlib.Path]:
    name, _, path = argument.partition("=")
    return name, pathlib.Path(path)


def unpack(archive: pathlib.Path, folder: pathlib.Path) -> dict[str, pathlib.Path]:
    """The files of the C libraries: names inside the wheel, and where they lie now."""
    found = {}
    with tarfile.open(archive) as tar:
        for member in filter(tarfile.TarInfo.isfile, tar):
            path = folder / member.name
            path.parent.mkdir(parents=True, exist_ok=True)
            contents = tar.extractfile(member)
            assert contents is not None
            path.write_bytes(contents.read())
            found[f"headrace/c/{member.name}"] = path
    for library in C_LIBRARIES:
        if library not in found:
            sys.exit(f"{archive} holds no {library.removeprefix('headrace/c/')}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--version", required=True)
    parser.add_argument("--licence", required=True, type=pathlib.Path)
    parser.add_argument("--include", nargs="+", required=True, type=pathlib.Path, help="headers for headrace/include")
    parser.add_argument(
        "--libraries", nargs="+", required=True, type=pathlib.Path, help="shared libraries that it may hold copies of"
    )
    parser.add_argument(
        "--stand-in", nargs="+", default=[], type=stand_in, help="NAME=PATH: what takes the place of a library"
    )
    parser.add_argument("--late", nargs="+", default=[], help="libraries that the module loads while it runs")
    parser.add_argument("--c-library", required=True, type=pathlib.Path, help="the archive for headrace/c")
    parser.add_argument("--far", type=pathlib.Path, help="the library for files behind a network")
    parser.add_argument("--curl-version", default="", help="of the source package that it is made from")
    parser.add_argument("--curl-copyright", type=pathlib.Path, help="that package's copyright file")
    parser.add_argument(
        "--package", nargs="+", required=True, type=pathlib.Path, help="paths with a folder `headrace` in them"
    )
    arguments = parser.parse_args()

    files = {f"headrace/include/{path.name}": path for path in arguments.include}
    for path in arguments.package:
        # The last `headrace`: the path of the clone may hold the name too.
        at = len(path.parts) - 1 - path.parts[::-1].index("headrace")
        files["/".join(path.parts[at:])] = path

    if stated_version(files["headrace/__init__.py"].read_text()) != arguments.version:
        sys.exit(f"headrace/__init__.py does not say __version__ = {arguments.version!r}, as the build does")

    with tempfile.TemporaryDirectory() as temporary:
        libraries = pathlib.Path(temporary, "headrace.libs")
        libraries.mkdir()
        (module_name,) = [name for name in files if name.endswith(".so")]
        module = pathlib.Path(temporary, pathlib.Path(module_name).name)
        # Names of functions within it are a sixth of it, and only debuggers and profilers read them.
        run("strip", "--strip-unneeded", "-o", module, files[module_name])
        c_library = unpack(arguments.c_library, pathlib.Path(temporary, "c"))
        bundled: dict[str, Bundled] = {}
        try:
            for library in bundle_libraries(
                module,
                libraries,
                arguments.libraries,
                dict(arguments.stand_in),
                arguments.late,
                {c_library[name]: "../../.." for name in C_LIBRARIES},
            ):
                bundled[f"{libraries.name}/{library.path.name}"] = library
            far = None
            if arguments.far:
                files[FAR_LIBRARY] = arguments.far
                far = FarLibrary(FAR_LIBRARY, arguments.curl_version, arguments.curl_copyright.read_text("utf-8"))
            shipped = find_shipped(bundled, arguments.version, module_name, Licences.read(), far)
        except (CannotBundle, NotAllowed, NotOfAPackage) as error:
            sys.exit(f"no wheel: {error}")
        files |= {name: library.path for name, library in bundled.items()}
        files[module_name] = module
        files |= c_library
        write_wheel(arguments.out, arguments.version, files, arguments.licence, shipped)


if __name__ == "__main__":
    main()
