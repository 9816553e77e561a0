"""headrace_wheel: the package and its engine module as one manylinux wheel."""

load("@python//:suffix.bzl", "PYTHON")

def headrace_wheel(name, version, srcs, visibility = None):
    """Builds the wheel of `srcs`, files of the folder python/headrace with the engine module among them.

    The platform is Debian 12's: glibc 2.36 is what the module is linked against.
    """
    native.genrule(
        name = name,
        srcs = srcs + ["//:LICENSE", "//plugin:headers"],
        outs = ["headrace-%s-cp311-cp311-manylinux_2_36_x86_64.whl" % version],
        cmd = " ".join([
            PYTHON,
            "$(location //tools/wheel:build_wheel.py)",
            "--out $@",
            "--version",
            version,
            "--licence $(location //:LICENSE)",
            "--include $(locations //plugin:headers)",
            "--package",
        ] + ["$(locations %s)" % src for src in srcs]),
        tools = ["//tools/wheel:build_wheel.py"],
        visibility = visibility,
    )
