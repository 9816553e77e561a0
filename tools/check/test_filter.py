"""The C++ tests of single files, where one program holds the tests of a whole folder: a filter of GoogleTest for them."""

import re
from collections.abc import Iterable

# TEST(Suite, Name), TEST_F, TEST_P, TYPED_TEST, TYPED_TEST_P
DEFINED = re.compile(r"^(TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)
# Tests that another file defines, with the parameters of this one: INSTANTIATE_TEST_SUITE_P(Prefix, Suite, …
INSTANTIATED = re.compile(r"^INSTANTIATE_(TYPED_)?TEST_SUITE_P\(\s*(\w*)\s*,\s*(\w+)\s*,", re.MULTILINE)


def patterns_in(source: str) -> list[str]:
    """Patterns of the names that GoogleTest gives to the tests of a file: those with parameters have more of them."""
    found = [defined(*match.group(0, 1, 2, 3)) for match in DEFINED.finditer(source)]
    for typed, prefix, suite in INSTANTIATED.findall(source):
        found.append(f"{prefix + '/' if prefix else ''}{suite}{'/*' if typed else '.*'}")
    return found


def defined(macro: str, typed: str | None, suite: str, name: str) -> str:
    if typed:
        return f"*{suite}/*.{name}"
    return f"*{suite}.{name}/*" if macro.startswith("TEST_P") else f"{suite}.{name}"


def filter_of(sources: Iterable[str]) -> str:
    """A filter for the tests of all these files; empty if there are none."""
    return ":".join(sorted({pattern for source in sources for pattern in patterns_in(source)}))
