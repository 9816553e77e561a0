"""`Package` is an installed package of Debian's; `owners_of` finds those that files come from."""

import dataclasses
import os
import pathlib
import subprocess
from collections.abc import Iterable
from urllib.parse import quote

_FIELDS = ("binary:Package", "Package", "Version", "source:Package", "source:Version", "Architecture")


class NotOfAPackage(Exception):
    """A file that no installed package owns, so that nothing says under which licence it is."""


@dataclasses.dataclass(frozen=True)
class Package:
    name: str
    version: str
    source: str
    source_version: str
    architecture: str

    @property
    def url(self) -> str:
        """The package URL, https://github.com/package-url/purl-spec."""
        version = quote(self.version, safe="~")
        return f"pkg:deb/debian/{self.name}@{version}?arch={self.architecture}&distro=debian-12"

    def copyright(self) -> str:
        return pathlib.Path("/usr/share/doc", self.name, "copyright").read_text("utf-8")


def find_packages(names: Iterable[str]) -> dict[str, Package]:
    """The packages by the names that were asked for, which may say the architecture."""
    wanted = sorted(set(names))
    form = "\t".join(f"${{{field}}}" for field in _FIELDS) + "\n"
    done = subprocess.run(
        ["dpkg-query", "--show", f"--showformat={form}", *wanted], check=True, stdout=subprocess.PIPE, text=True
    )
    found = {}
    for line in done.stdout.splitlines():
        with_architecture, name, *rest = line.split("\t")
        found[with_architecture] = found[name] = Package(name, *rest)
    return {name: found[name] for name in wanted}


def _spellings(path: str) -> list[str]:
    """A path as packages may name it: some own /lib/x, which is /usr/lib/x since both folders were merged."""
    real = os.path.realpath(path)
    return list(dict.fromkeys([path, real, real.removeprefix("/usr")]))


def owners_of(paths: Iterable[str]) -> dict[str, Package]:
    """The package that each of the files comes from."""
    spellings = {path: _spellings(path) for path in paths}
    every = sorted({each for names in spellings.values() for each in names})
    # Fails as some of the spellings are unknown, and lists the others.
    search = ["dpkg-query", "--search", *every]
    listed = subprocess.run(search, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    names: dict[str, str] = {}
    for line in listed.splitlines():
        name, _, path = line.rpartition(": ")
        if not name.startswith("diversion by "):
            names[path] = name.split(", ")[0]
    owned = {}
    for path, spelled in spellings.items():
        name = next((names[each] for each in spelled if each in names), None)
        if name is None:
            raise NotOfAPackage(f"{path} comes from no installed package of Debian's")
        owned[path] = name
    packages = find_packages(owned.values())
    return {path: packages[name] for path, name in owned.items()}
