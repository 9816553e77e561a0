"""What C++ of the product may not use, as what it is given from outside could make it take long or end it."""

import pathlib
import re
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).parents[1]
ROOMS = ("core", "ir", "kernels", "io", "engine", "ops", "python/binding")
TABLE = re.compile(r"\b(?:unordered_|flat_hash_|node_hash_)(?:multi)?(?:map|set)<")


def sources() -> Iterator[tuple[str, str]]:
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix in (".h", ".cc") and not name.endswith(("_test.cc", "_fuzz.cc")) and "/testing/" not in name:
                yield name, path.read_text()


def arguments_from(text: str, begin: int) -> str:
    """Those of a template, up to the bracket that ends them."""
    depth, end = 1, begin
    while depth:
        depth += {"<": 1, ">": -1}.get(text[end], 0)
        end += 1
    return text[begin:end]


def test_hash_tables_have_keys_that_nobody_can_make_collide():
    found = 0
    for name, text in sources():
        for table in TABLE.finditer(text):
            found += 1
            line = text.count("\n", 0, table.start()) + 1
            assert "SeededHash" in arguments_from(text, table.end()), f"{name}:{line}: see core/seeded_hash.h"
    assert found > 20


def test_nothing_matches_by_a_library_that_recurses():
    for name, text in sources():
        assert "std::regex" not in text, f"{name}: std::regex recurses for each letter"
