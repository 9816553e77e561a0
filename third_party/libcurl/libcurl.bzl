"""libcurl as an archive, where `tools/setup/setup --far` has built it (tools/setup/libcurl.sh)."""

def _impl(ctx):
    # Its folder is named there.
    mark = ctx.path(str(ctx.path(Label("//:WORKSPACE")).dirname) + "/.venv/headrace-far")
    folder = ctx.read(mark).strip() if mark.exists else ""
    built = folder and ctx.path(folder + "/libcurl.a").exists
    ctx.file("libcurl.bzl", "LIBCURL = %r\n" % (folder if built else ""))
    if not built:
        ctx.file("BUILD")
        return
    for name in ["include", "libcurl.a", "copyright"]:
        ctx.symlink(folder + "/" + name, name)
    ctx.file("BUILD", """
exports_files(["copyright"])

cc_library(
    name = "libcurl",
    srcs = ["libcurl.a"],
    hdrs = glob(["include/curl/*.h"]),
    includes = ["include"],
    # Archives, as OpenSSL's other versions may be in the same process.
    linkopts = ["-Wl,-Bstatic", "-lssl", "-lcrypto", "-Wl,-Bdynamic", "-lpthread", "-ldl"],
    visibility = ["//visibility:public"],
)
""")

libcurl = repository_rule(implementation = _impl, local = True)
