"""`Licences` reads Debian's copyright files: the licence of what a library is compiled from, and its texts.

A copyright file says for each file of a source package which licence it has, also for programs, tests and the packaging.
licences.toml says which of these files are in no library, and which licences the wheel can carry. Whatever it does not
say is refused, so that a new version of a package with a new licence fails the build.
"""

import dataclasses
import fnmatch
import pathlib
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

TABLE = pathlib.Path(__file__).with_name("licences.toml")
COMMON = pathlib.Path("/usr/share/common-licenses")
_COMMON_NAME = re.compile(rf"{COMMON}/([A-Za-z0-9.-]*[A-Za-z0-9])")
# In no library, whatever the package.
_PACKAGING = "debian/*"


class NotAllowed(Exception):
    """A licence that the wheel cannot carry, or one that nobody has judged."""


@dataclasses.dataclass(frozen=True)
class Licence:
    expression: str
    """SPDX."""
    text: str


@dataclasses.dataclass(frozen=True)
class _Paragraph:
    """Of a copyright file: fields by their names in lower case."""

    fields: Mapping[str, str]
    text: str

    @property
    def files(self) -> list[str]:
        return self.fields.get("files", "").split()

    @property
    def licence(self) -> str:
        """Its name; the rest of the field is the text."""
        return self.fields.get("license", "").partition("\n")[0].strip()

    @property
    def has_text(self) -> bool:
        return bool(self.fields.get("license", "").partition("\n")[2].strip())


def join(expressions: Iterable[str]) -> str:
    """The SPDX expression of what is under all of these."""
    return " AND ".join(sorted({each for expression in expressions for each in expression.split(" AND ")}))


def _paragraphs(copyright: str) -> list[_Paragraph]:
    found = []
    for text in re.split(r"\n[ \t]*\n", copyright):
        lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
        fields: dict[str, str] = {}
        name = ""
        for line in lines:
            if line[0] in " \t":
                fields[name] = f"{fields.get(name, '')}\n{line}"
            else:
                name, _, value = line.partition(":")
                name = name.lower()
                fields[name] = value
        if lines:
            found.append(_Paragraph(fields, "\n".join(lines)))
    return found


def _with_common_texts(text: str) -> str:
    """The text, and after it those that it refers to on Debian's systems."""
    parts = [text]
    for name in dict.fromkeys(_COMMON_NAME.findall(text)):
        parts.append(f"The text of {COMMON / name}:\n\n{(COMMON / name).read_text('utf-8').strip(chr(10))}")
    return "\n\n".join(parts) + "\n"


class Licences:
    def __init__(self, table: Mapping[str, Any]) -> None:
        self.allowed: frozenset[str] = frozenset(table["allowed"])
        self.compiled_in: Mapping[str, Sequence[str]] = table["compiled-in"]
        self._names = {name.casefold(): name for name in self.allowed}
        self._names |= {name.casefold(): identifier for name, identifier in table["names"].items()}
        self._sources: Mapping[str, Mapping[str, Any]] = table["sources"]

    @classmethod
    def read(cls, path: pathlib.Path = TABLE) -> "Licences":
        return cls(tomllib.loads(path.read_text("utf-8")))

    def check(self, what: str, expression: str) -> str:
        """Returns the expression, which joins allowed licences by AND."""
        for identifier in expression.split(" AND "):
            if identifier not in self.allowed:
                raise NotAllowed(
                    f"{what} has the licence {expression}, which the wheel cannot carry: allowed are "
                    f"{', '.join(sorted(self.allowed))} (tools/wheel/licences.toml)"
                )
        return expression

    def of(self, source: str, copyright: str) -> Licence:
        """The licence of the libraries of a source package whose copyright file this is."""
        about = self._sources.get(source, {})
        if not copyright.startswith("Format:"):
            if "licence" not in about:
                raise NotAllowed(
                    f"the copyright file of {source} has another form than Debian's 1.0: read it, and say its licence in "
                    "tools/wheel/licences.toml"
                )
            return Licence(self.check(source, about["licence"]), _with_common_texts(copyright.strip("\n")))
        return self._of_paragraphs(source, _paragraphs(copyright), about)

    def _of_paragraphs(self, source: str, paragraphs: Sequence[_Paragraph], about: Mapping[str, Any]) -> Licence:
        elsewhere = [_PACKAGING, *about.get("elsewhere", [])]
        names = self._names | {name.casefold(): identifier for name, identifier in about.get("names", {}).items()}
        identifiers: list[str] = []
        # By name, whether there is a text of it.
        used: dict[str, bool] = {}
        kept = []
        for paragraph in paragraphs:
            if paragraph.files and all(_matches(file, elsewhere) for file in paragraph.files):
                continue
            if paragraph.files:
                for name in self._chosen(source, paragraph, names):
                    identifiers.append(self.check(source, names[name]))
                    used[name] = used.get(name, False) or paragraph.has_text
            kept.append(paragraph)
        # A paragraph of a licence alone has its text; only the first paragraph has neither files nor a licence's name.
        alone = [paragraph for paragraph in paragraphs[1:] if not paragraph.files]
        used |= {paragraph.licence.casefold(): True for paragraph in alone if paragraph.licence.casefold() in used}
        without = [name for name, has_text in used.items() if not has_text]
        if without or not identifiers:
            raise NotAllowed(f"the copyright file of {source} holds no text of its licence {', '.join(without)}")
        kept = [each for each in kept if each not in alone or each.licence.casefold() in used]
        return Licence(join(identifiers), _with_common_texts("\n\n".join(each.text for each in kept)))

    def _chosen(self, source: str, paragraph: _Paragraph, names: Mapping[str, str]) -> list[str]:
        """The licences of a paragraph in small letters; of alternatives the first that is allowed."""
        name = paragraph.licence.casefold()
        # What else a comma may mean is left to the reader.
        alternatives = [name] if "," in name else re.split(r"\s+or\s+", name)
        for alternative in alternatives:
            parts = re.split(r"\s+and\s+", alternative)
            if all(part in names for part in parts):
                return parts
        raise NotAllowed(
            f"{source} has the licence {paragraph.licence or 'without a name'} for {' '.join(paragraph.files)}. The wheel "
            "cannot carry it, unless tools/wheel/licences.toml allows it or says that these files are in no library"
        )


def _matches(file: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(file, pattern) for pattern in patterns)
