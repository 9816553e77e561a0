"""headrace_wheel: the package and its engine module as one manylinux wheel."""

load("@libcurl//:libcurl.bzl", "LIBCURL")
load("@python//:suffix.bzl", "PYTHON", "TAG")

# Libraries that the wheel holds something of ours in place of, by the names that other libraries need them by.
_STAND_INS = {"libjbig.so.0": "//tools/wheel:libunsupported.so"}

# Libraries that the module loads while it runs, by these names or those of the wheel's copies.
_LATE = ["libtiff.so.6"]

# The library for files behind a network, where libcurl has been built (tools/setup/setup --far).
_FAR = ["//io/files/http/curl:libheadrace_far.so", "@libcurl//:copyright"] if LIBCURL else []

# Its folder is named after the version and how it was built.
_CURL_VERSION = LIBCURL.rpartition("/")[2].rpartition("-")[0]

def headrace_wheel(name, version, srcs, visibility = None):
    """Builds the wheel of `srcs`, files of the folder python/headrace with the engine module among them.

    The tag is of the Python whose headers @python has. The platform is the oldest glibc with all symbols that the wheel's
    libraries need, which symbol_versions.py checks.
    """
    native.genrule(
        name = name,
        srcs = srcs + _STAND_INS.values() + ["//:LICENSE", "//capi:package", "//plugin:headers", "@debian//:bundled"] + _FAR,
        outs = ["headrace-%s-%s-%s-manylinux_2_34_x86_64.whl" % (version, TAG, TAG)],
        # As a module of this folder: it imports those beside it.
        cmd = " ".join([
            PYTHON,
            "-B -m tools.wheel.build_wheel",
            "--out $@",
            "--version",
            version,
            "--licence $(location //:LICENSE)",
            "--include $(locations //plugin:headers)",
            "--c-library $(location //capi:package)",
            "--libraries $(locations @debian//:bundled)",
            "--stand-in",
        ] + ["%s=$(location %s)" % stand_in for stand_in in _STAND_INS.items()] + [
            "--late",
        ] + _LATE + ([
            "--far $(location %s)" % _FAR[0],
            "--curl-copyright $(location %s)" % _FAR[1],
            "--curl-version " + _CURL_VERSION,
        ] if LIBCURL else []) + [
            "--package",
        ] + ["$(locations %s)" % src for src in srcs]),
        tools = ["//tools/wheel:build_wheel"],
        visibility = visibility,
    )
