"""`Shipped` is what the wheel holds of others, with its licences: copies of libraries, and what is compiled in."""

import dataclasses
import hashlib
import importlib.metadata
import pathlib
import urllib.parse
from collections.abc import Mapping, Sequence

from tools.wheel.bill import Component
from tools.wheel.bundle import Bundled
from tools.wheel.debian import Package, find_packages, owners_of
from tools.wheel.licences import Licence, Licences

# The licence of Headrace, and its text below `licenses/`.
OURS = "Apache-2.0"
OUR_FILE = "LICENSE"


@dataclasses.dataclass(frozen=True)
class Shipped:
    components: Sequence[Component]
    texts: Mapping[str, str]
    """By the name below `licenses/`."""


@dataclasses.dataclass(frozen=True)
class FarLibrary:
    """The library for files behind a network, which curl and OpenSSL are compiled into."""

    file: str
    """Its name in the wheel."""
    curl_version: str
    """Of Debian's source package."""
    curl_copyright: str


class _Texts:
    """One text for each source, which says where it is from."""

    def __init__(self) -> None:
        self.by_file: dict[str, str] = {}

    def add(self, source: str, version: str, licence: Licence, said_by: str) -> str:
        file = f"third_party/{source}.txt"
        heading = (
            f"{source} {version}\nLicence (SPDX): {licence.expression}\n\n"
            f"From {said_by}, without what is about programs, tests and packaging alone:\n"
        )
        self.by_file.setdefault(file, f"{heading}\n{licence.text}")
        return file


def find_shipped(
    bundled: Mapping[str, Bundled], version: str, module: str, licences: Licences, far: FarLibrary | None = None
) -> Shipped:
    """What the files `bundled`, by their names in the wheel, the engine module and the library `far` hold."""
    texts = _Texts()
    owners = owners_of(str(library.source) for library in bundled.values() if not library.is_stand_in)
    compiled_in = find_packages(licences.compiled_in["debian"])
    components = [
        _stand_in(library, file, version)
        if library.is_stand_in
        else _of_debian(library.name, owners[str(library.source)], file, _sha256(library.path), texts, licences)
        for file, library in sorted(bundled.items())
    ]
    for name, package in compiled_in.items():
        components.append(_of_debian(name, package, module, "", texts, licences))
    for name in licences.compiled_in["python"]:
        components.append(_of_python(name, module, texts, licences))
    if far is not None:
        components.append(_curl(far, texts, licences))
        for name, package in find_packages(licences.compiled_in["far"]).items():
            components.append(_of_debian(name, package, far.file, "", texts, licences))
    return Shipped(components, texts.by_file)


def _sha256(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _of_debian(name: str, package: Package, file: str, sha256: str, texts: _Texts, licences: Licences) -> Component:
    licence = licences.of(package.source, package.copyright())
    said_by = f"the copyright file of Debian's package {package.name}"
    text = texts.add(package.source, package.source_version, licence, said_by)
    return Component(name, package.version, licence.expression, package.source, package.url, file, sha256, text)


def _curl(far: FarLibrary, texts: _Texts, licences: Licences) -> Component:
    licence = licences.of("curl", far.curl_copyright)
    text = texts.add("curl", far.curl_version, licence, "the copyright file of Debian's source package curl")
    version = urllib.parse.quote(far.curl_version, safe="~")
    url = f"pkg:deb/debian/curl@{version}?arch=source&distro=debian-12"
    return Component("curl", far.curl_version, licence.expression, "curl", url, far.file, "", text)


def _of_python(name: str, file: str, texts: _Texts, licences: Licences) -> Component:
    distribution = importlib.metadata.distribution(name)
    expression = licences.check(name, distribution.metadata["License-Expression"] or "without a name")
    files = [path for path in distribution.files or [] if ".dist-info/licenses/" in str(path)]
    text = "\n\n".join(path.read_text().strip("\n") for path in files) + "\n"
    licence = Licence(expression, text)
    text_file = texts.add(name, distribution.version, licence, f"the distribution {name} of PyPI")
    url = f"pkg:pypi/{name}@{distribution.version}"
    return Component(name, distribution.version, expression, name, url, file, "", text_file)


def _stand_in(library: Bundled, file: str, version: str) -> Component:
    about = f"Stands in for {library.name}: its functions fail."
    return Component(library.source.name, version, OURS, "headrace", "", file, _sha256(library.path), OUR_FILE, about)
