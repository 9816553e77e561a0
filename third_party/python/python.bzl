"""Headers of the interpreter and of pybind11, found by asking the project's virtual environment."""

_ASK = "import sysconfig, pybind11; print(sysconfig.get_paths()['include']); print(pybind11.get_include()); print(sysconfig.get_config_var('EXT_SUFFIX'))"

def _impl(ctx):
    python = str(ctx.path(Label("//:WORKSPACE")).dirname) + "/.venv/bin/python"
    asked = ctx.execute([python, "-c", _ASK])
    if asked.return_code:
        fail("no .venv with pybind11 (tools/setup/setup makes it): " + asked.stderr)
    include, pybind11, suffix = asked.stdout.strip().split("\n")
    ctx.symlink(include, "python")
    ctx.symlink(pybind11, "pybind11")
    ctx.file("suffix.bzl", "EXT_SUFFIX = %r\nPYTHON = %r\n" % (suffix, python))
    ctx.file("BUILD", """
cc_library(name = "pybind11", hdrs = glob(["python/**/*.h", "pybind11/**/*.h"]), includes = ["python", "pybind11"], visibility = ["//visibility:public"])
""")

python_headers = repository_rule(implementation = _impl, environ = ["VIRTUAL_ENV"], local = True)
