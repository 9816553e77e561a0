"""A second interpreter in the process cannot import the engine, and gets an error that says so."""

import pytest
from conftest import run_python

IMPORT = """
import _xxsubinterpreters as interpreters
BEFORE
other = interpreters.create()
try:
    interpreters.run_string(other, "import headrace")
except interpreters.RunFailedError as error:
    print(error)
interpreters.destroy(other)
import headrace
print(len(list(headrace.Range(3))))
"""


@pytest.mark.parametrize("before", ["", "import headrace"])
def test_a_subinterpreter_is_refused(before):
    pytest.importorskip("_xxsubinterpreters")
    done = run_python(IMPORT.replace("BEFORE", before), timeout=20)
    assert done.returncode == 0, done.stderr
    assert "ImportError" in done.stdout and "cannot be used in a subinterpreter" in done.stdout, done.stdout
    assert done.stdout.endswith("\n3\n")


def test_the_engine_is_imported_again():
    code = """
import sys
import headrace
first = headrace._engine
for name in [name for name in sys.modules if name.startswith("headrace")]:
    del sys.modules[name]
import headrace as again
print(len(list(again.Range(3))))
"""
    done = run_python(code, timeout=20)
    assert (done.returncode, done.stdout) == (0, "3\n"), done.stderr
