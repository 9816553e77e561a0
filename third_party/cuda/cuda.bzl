"""Headers of the CUDA driver's API, from the package nvidia-cuda-runtime in the project's virtual environment."""

_ASK = "import nvidia; print(next(iter(nvidia.__path__)) + '/cu13/include')"

def _impl(ctx):
    python = str(ctx.path(Label("//:WORKSPACE")).dirname) + "/.venv/bin/python"
    asked = ctx.execute([python, "-c", _ASK])
    if asked.return_code:
        fail("no .venv with nvidia-cuda-runtime (tools/setup/setup makes it): " + asked.stderr)
    for header in ["cuda.h", "cudaTypedefs.h"]:
        ctx.symlink(asked.stdout.strip() + "/" + header, "include/" + header)
    ctx.file("BUILD", """
cc_library(name = "driver_headers", hdrs = glob(["include/*.h"]), includes = ["include"], visibility = ["//visibility:public"])
""")

cuda_headers = repository_rule(implementation = _impl, environ = ["VIRTUAL_ENV"], local = True)
