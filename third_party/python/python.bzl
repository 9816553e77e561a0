"""Headers of an interpreter and of pybind11: the project's virtual environment's, or those that HEADRACE_PYTHON names.

HEADRACE_PYTHON is the path of another Python, for a wheel that it can load (tools/wheel/build_wheels.py sets it); pybind11
and the Python that runs the build's own programs are always the virtual environment's.
"""

_ASK = "import sysconfig as s; print(s.get_paths()['include']); print(s.get_config_var('EXT_SUFFIX')); print('cp' + s.get_config_var('py_version_nodot'))"
_ASK_PYBIND11 = "import pybind11; print(pybind11.get_include())"

def _impl(ctx):
    python = str(ctx.path(Label("//:WORKSPACE")).dirname) + "/.venv/bin/python"
    asked = ctx.execute([python, "-c", _ASK_PYBIND11])
    if asked.return_code:
        fail("no .venv with pybind11 (tools/setup/setup makes it): " + asked.stderr)
    pybind11 = asked.stdout.strip()
    target = ctx.os.environ.get("HEADRACE_PYTHON") or python
    asked = ctx.execute([target, "-c", _ASK])
    if asked.return_code:
        fail("HEADRACE_PYTHON=%s cannot be asked for its headers: %s" % (target, asked.stderr))
    include, suffix, tag = asked.stdout.strip().split("\n")
    ctx.symlink(include, "python")
    ctx.symlink(pybind11, "pybind11")
    ctx.file("suffix.bzl", "EXT_SUFFIX = %r\nTAG = %r\nPYTHON = %r\n" % (suffix, tag, python))
    ctx.file("BUILD", """
cc_library(name = "pybind11", hdrs = glob(["python/**/*.h", "pybind11/**/*.h"]), includes = ["python", "pybind11"], visibility = ["//visibility:public"])
""")

python_headers = repository_rule(implementation = _impl, environ = ["VIRTUAL_ENV", "HEADRACE_PYTHON"], local = True)
