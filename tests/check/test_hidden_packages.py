"""Packages that come late are hidden from tests without the mark, in small projects with a package of their own."""

import os
import pathlib
import subprocess
import sys

import pytest

from tests import browser
from tests.conftest import ROOT

CONFTEST = """
from tests import hidden_packages

def pytest_configure(config):
    hidden_packages.register(config, {"lately"}, here=True)
"""
SETTINGS = """[pytest]
addopts = -p no:cacheprovider
markers =
    torch
    browser
"""
FIND = "import importlib.util, sys; sys.exit(importlib.util.find_spec('lately') is None)"
TESTS = f"""
import importlib.metadata
import importlib.util
import subprocess
import sys
import pytest

def is_found_by_a_process():
    return subprocess.run([sys.executable, "-c", {FIND!r}]).returncode == 0

@pytest.mark.torch
def test_marked():
    import lately.inner
    assert importlib.metadata.version("lately") == "1.0" and is_found_by_a_process()

def test_unmarked():
    assert "lately" not in sys.modules and "lately.inner" not in sys.modules
    assert importlib.util.find_spec("lately") is None and not is_found_by_a_process()
    with pytest.raises(ModuleNotFoundError, match="No module named 'lately'"):
        import lately.inner
    with pytest.raises(importlib.metadata.PackageNotFoundError):
        importlib.metadata.version("lately")
    assert list(importlib.metadata.distributions())

@pytest.mark.torch
def test_marked_again():
    import lately
    assert lately.inner.imports == ["once"]

def test_a_module_of_its_own(tmp_path, monkeypatch):
    (tmp_path / "lately.py").write_text("own = True")
    monkeypatch.syspath_prepend(tmp_path)
    import lately
    assert lately.own
    del sys.modules["lately"]
"""


@pytest.fixture
def project(tmp_path: pathlib.Path) -> pathlib.Path:
    package = tmp_path / "site-packages/lately"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "inner.py").write_text("imports = ['once']\n")
    info = tmp_path / "site-packages/lately-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lately\nVersion: 1.0\n")
    # Of a package that is not hidden, and of one whose metadata were lost.
    (tmp_path / "site-packages/above.py").write_text("import lately\n")
    (tmp_path / "site-packages/broken-1.0.dist-info").mkdir()
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "pytest.ini").write_text(SETTINGS)
    return tmp_path


def ran(project: pathlib.Path, tests: str, *options: str) -> str:
    """What pytest says of a file with these tests."""
    (project / "test_some.py").write_text(tests)
    paths = [str(project / "site-packages"), str(ROOT), str(ROOT / "python")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:xdist", "-rA", *options],
        cwd=project,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths), "HEADRACE_HIDDEN": ""},
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.stdout + done.stderr


def test_tests_without_the_mark_do_not_find_it(project):
    assert "4 passed" in ran(project, TESTS)


MODULE = "import pytest\n\nlately = pytest.importorskip('lately')\n\n{mark}def test_a():\n    pass\n\ndef test_b():\n    pass\n"


@pytest.mark.parametrize(
    ("tests", "said"),
    [
        ("def test_a():\n    import lately\n", "1 failed"),
        ("import pytest\n\ndef test_a():\n    pytest.importorskip('lately')\n", "1 failed"),
        ("import lately\n\ndef test_a():\n    pass\n", "1 error"),
        (MODULE.format(mark=""), "1 error"),
        ("import pytest\n\ndef test_a():\n    pytest.importorskip('never')\n", "1 skipped"),
        ("import pytest\n\ndef test_a():\n    pytest.importorskip('above')\n", "1 skipped"),
        ("import pytest\n\npytest.importorskip('above')\n\ndef test_a():\n    pass\n", "1 skipped"),
        ("import pytest\n\npytest.importorskip('lately.inner')\n\ndef test_a():\n    pass\n", "1 error"),
        ("import pytest\n\n@pytest.mark.xfail\ndef test_a():\n    import lately\n", "1 xfailed"),
        ("try:\n    import lately\nexcept ImportError:\n    pass\n\ndef test_a():\n    pass\n", "1 passed"),
    ],
)
def test_what_lacks_its_mark_fails_and_is_told(project, tests, said):
    out = ran(project, tests)
    assert said in out
    assert ("hidden from tests without one of" in out) == (said in ("1 failed", "1 error"))


def test_a_file_is_read_without_it_where_marked_tests_are_left_out(project):
    """Else one that imports it for marked tests would be read here, and fail where it comes later."""
    tests = "import lately\nimport pytest\n\n@pytest.mark.torch\ndef test_a():\n    pass\n\ndef test_b():\n    pass\n"
    assert "2 passed" in ran(project, tests)
    assert "1 error" in ran(project, tests, "-m", "not torch and not ray")
    # Skipped as a whole, it would lose the tests that need nothing.
    tests = MODULE.format(mark="@pytest.mark.torch\n")
    assert "2 passed" in ran(project, tests)
    assert "1 error" in ran(project, tests, "-m", "not torch and not ray")
    whole = f"import pytest\n\npytestmark = pytest.mark.torch\n{MODULE.format(mark='')}"
    assert "1 skipped" in ran(project, whole, "-m", "not torch and not ray")
    assert "2 passed" in ran(project, whole, "-m", "torch")


def test_chromium_is_for_marked_tests(monkeypatch):
    """In this process, too: this test has no mark."""
    monkeypatch.setenv("HEADRACE_HIDDEN", "chromium,torch")
    with pytest.raises(PermissionError, match="mark this one"):
        browser.Browser()


def test_another_environment_hides_nothing(project):
    (project / "conftest.py").write_text(CONFTEST.replace("True", "False"))
    assert "1 passed" in ran(project, "def test_a():\n    import lately\n")
