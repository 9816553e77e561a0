"""`version_complaints` compares the symbol versions that shared libraries need with those of the oldest system that the
wheel's tag names: manylinux_2_34 has glibc 2.34 and GCC 11's libstdc++ and libgcc."""

import pathlib
import re
import subprocess
from collections.abc import Iterable

# The tag's, and what GCC 11 has: RHEL 9's compiler.
NEWEST = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13), "GCC": (11, 0, 0)}
# Of the libraries that stay outside.
OUTSIDE = re.compile(r"(libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s|ld-linux-[\w-]+)\.so\.\d+")

_FILE = re.compile(r"Version: \d+\s+File: (\S+)\s+Cnt: \d+")
_NAME = re.compile(r"Name: (\S+)\s+Flags: ")


def needed_versions(listed: str) -> list[tuple[str, str]]:
    """The libraries and versions in the text of `readelf --version-info --wide`."""
    _, _, needs = listed.partition("\nVersion needs section")
    found = []
    library = ""
    for line in needs.splitlines():
        if file := _FILE.search(line):
            library = file.group(1)
        elif name := _NAME.search(line):
            found.append((library, name.group(1)))
    return found


def is_old_enough(version: str) -> bool:
    """GLIBC_PRIVATE, GLIBC_ABI_DT_RELR and names that nobody knows are not."""
    name, _, number = version.rpartition("_")
    if name not in NEWEST or not re.fullmatch(r"\d+(\.\d+)*", number):
        return False
    return tuple(map(int, number.split("."))) <= NEWEST[name]


def version_complaints(libraries: Iterable[pathlib.Path], folder: pathlib.Path) -> list[str]:
    """A sentence for each version that is too new; names are below `folder`."""
    wrong = []
    for path in sorted(libraries):
        # One that needs no version has no such section.
        listed = subprocess.run(
            ["readelf", "--version-info", "--wide", str(path)], check=True, capture_output=True, text=True
        ).stdout
        wrong += [
            f"{path.relative_to(folder)} needs {version} of {library}, newer than manylinux_2_34 has"
            for library, version in needed_versions("\n" + listed)
            if OUTSIDE.fullmatch(library) and not is_old_enough(version)
        ]
    return wrong
