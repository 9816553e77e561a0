"""No header declares a type whose name is taken in its namespace: a program would mix up the functions of the two."""

import collections
import re
from collections.abc import Iterator

from tests.test_bounded_work import ROOMS, ROOT

NAMESPACE = re.compile(r"^(?:(?:inline )?namespace ([\w:]*) ?\{$|\}  // (?:inline )?namespace)", re.M)
TYPE = re.compile(
    r"^(?:class|struct|enum|enum class)(?: __attribute__\(\(.*?\)\))? (\w+)(?: final)?(?: :[^;{]*)? \{", re.M
)


def types_of(text: str) -> Iterator[str]:
    """With their namespaces. Types within types, whose lines are indented, have names of their own."""
    marks = sorted([*NAMESPACE.finditer(text), *TYPE.finditer(text)], key=re.Match.start)
    inside: list[str] = []
    for mark in marks:
        if mark.re is TYPE:
            yield "::".join([*inside, mark[1]])
        elif mark[0].endswith("{"):
            inside.append(mark[1])
        else:
            inside.pop()


def test_each_name_of_a_type_is_taken_once():
    headers = collections.defaultdict(list)
    for room in (*ROOMS, "plugin"):
        for path in sorted((ROOT / room).rglob("*.h")):
            for name in types_of(path.read_text()):
                headers[name].append(path.relative_to(ROOT).as_posix())
    assert len(headers) > 500
    assert {name: paths for name, paths in headers.items() if len(paths) > 1} == {}


def test_a_name_in_another_namespace_is_another_one():
    text = "namespace a {\nstruct X {\n};\n}  // namespace a\nnamespace a::b {\nclass X : public Y {\n};\n}  // namespace a::b\n"
    assert list(types_of(text)) == ["a::X", "a::b::X"]
