"""Headers of the CUDA driver's API, and nvcc where it is installed, from NVIDIA's packages in the project's virtual environment."""

_ASK = "import nvidia; print(next(iter(nvidia.__path__)) + '/cu13/include')"

def _impl(ctx):
    python = str(ctx.path(Label("//:WORKSPACE")).dirname) + "/.venv/bin/python"
    asked = ctx.execute([python, "-c", _ASK])
    if asked.return_code:
        fail("no .venv with nvidia-cuda-runtime (tools/setup/setup makes it): " + asked.stderr)
    for header in ["cuda.h", "cudaTypedefs.h"]:
        ctx.symlink(asked.stdout.strip() + "/" + header, "include/" + header)
    # nvcc finds its parts from its own place, so it is called there; the version is part of what is cached.
    nvcc = asked.stdout.strip()[:-len("include")] + "bin/nvcc"
    version = ctx.execute([nvcc, "--version"]) if ctx.path(nvcc).exists else None
    ctx.file("nvcc.bzl", "NVCC = %r\nNVCC_VERSION = %r\n" % (
        (nvcc, version.stdout.strip().split("\n")[-1]) if version and version.return_code == 0 else ("", "")
    ))
    ctx.file("BUILD", """
cc_library(name = "driver_headers", hdrs = glob(["include/*.h"]), includes = ["include"], visibility = ["//visibility:public"])
""")

cuda_headers = repository_rule(implementation = _impl, environ = ["VIRTUAL_ENV"], local = True)
