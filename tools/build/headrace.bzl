"""Rules for Headrace's own C++, with the warnings and the floating-point rules that all rooms share."""

load("@cuda//:nvcc.bzl", "NVCC", "NVCC_VERSION")

# -ffp-contract=off: a*b+c contracted into one FMA gives different bits on different CPUs, and bits are guaranteed.
_COPTS = ["-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]

def headrace_cc_library(name, copts = [], **kwargs):
    native.cc_library(name = name, copts = _COPTS + copts, **kwargs)

def _linked_library(ctx):
    linked = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    return [CcInfo(linking_context = linked.linking_context)]

# Libraries that are linked, without their headers: a change of one does not recompile what depends on this.
linked_library = rule(
    implementation = _linked_library,
    attrs = {"deps": attr.label_list(providers = [CcInfo])},
)

def headrace_cc_binary(name, copts = [], **kwargs):
    native.cc_binary(name = name, copts = _COPTS + copts, **kwargs)

# At a fixed address a test needs no table of relocations, a quarter of its size under AddressSanitizer.
_TEST_LINKOPTS = ["-no-pie"]

def headrace_cc_test(name, copts = [], linkopts = [], deps = [], size = "small", **kwargs):
    native.cc_test(
        name = name,
        size = size,
        copts = _COPTS + copts,
        linkopts = _TEST_LINKOPTS + linkopts,
        deps = deps + ["@debian//:gtest"],
        **kwargs
    )

def headrace_cc_fuzz_test(name, deps = [], data = [], linkopts = [], **kwargs):
    """A parser of bytes from outside, given any bytes: NAME.cc holds LLVMFuzzerTestOneInput.

    Under --config=fuzz it is a libFuzzer binary, which tools/fuzz runs; otherwise a test that replays the files of
    corpus/NAME beside it. A dictionary for libFuzzer may stand in corpus/NAME.dict.
    """
    native.cc_test(
        name = name,
        size = "small",
        srcs = [name + ".cc"],
        copts = _COPTS,
        args = [native.package_name() + "/corpus/" + name],
        data = data + native.glob(["corpus/" + name + "/*"]),
        linkopts = _TEST_LINKOPTS + linkopts + select({
            "//tools/build:fuzz": ["-fsanitize=fuzzer"],
            "//conditions:default": [],
        }),
        deps = deps + select({
            "//tools/build:fuzz": [],
            "//conditions:default": ["//core/testing:corpus_replay"],
        }),
        tags = ["fuzz"],
        **kwargs
    )

def headrace_py_extension(name, deps, **kwargs):
    """A Python extension module of libraries; name it with its EXT_SUFFIX from @python//:suffix.bzl."""
    native.cc_binary(
        name = name,
        deps = deps,
        # The linker hides symbols that Python does not look up: two modules with Abseil inside do not clash, and calls
        # within the module need no table.
        linkopts = ["-Wl,--version-script=$(location //tools/build:python_module.lds)"],
        additional_linker_inputs = ["//tools/build:python_module.lds"],
        linkshared = True,
        linkstatic = True,
        **kwargs
    )

def headrace_embedded_text(src):
    """A text file as a C++ literal: SRC.inc, to be included behind a `=`."""
    native.genrule(
        name = src + "_embedded",
        srcs = [src],
        outs = [src + ".inc"],
        cmd = "(printf 'R\"text('; cat $<; printf ')text\"') > $@",
    )

def headrace_cuda_kernels(name, src, hdrs):
    """Kernels for CUDA devices: NAME.fatbin.inc holds the numbers of a fat binary, for an array; one 0 without nvcc.

    No contraction into FMA, as for the host's code. What is newer than the last architecture is compiled by the driver.
    """
    architectures = " ".join(["-gencode arch=compute_%d,code=sm_%d" % (sm, sm) for sm in (75, 80, 90)])
    compile = "'%s' -ccbin g++ -O3 -std=c++17 --fmad=false -I. %s %s --fatbin $(location %s) -o $(@D)/%s.fatbin" % (
        NVCC,
        architectures,
        "-gencode arch=compute_75,code=compute_75",
        src,
        name,
    )
    numbers = "od -An -v -tu1 -w32 $(@D)/%s.fatbin | sed -E 's/ +([0-9]+)/\\1,/g' > $@" % name
    native.genrule(
        name = name,
        srcs = [src] + hdrs,
        outs = [name + ".fatbin.inc"],
        cmd = "# %s\n%s && %s" % (NVCC_VERSION, compile, numbers) if NVCC else "echo 0, > $@",
    )

def headrace_proto_library(name, src, visibility = None):
    """C++ of one .proto file; NAME.pb.h and NAME.pb.cc without our warnings, as the code is protoc's."""
    stem = src[:-len(".proto")]
    native.genrule(
        name = name + "_protoc",
        srcs = [src],
        outs = [stem + ".pb.h", stem + ".pb.cc"],
        cmd = "protoc -I. --cpp_out=$(GENDIR) $(SRCS)",
    )
    native.cc_library(
        name = name,
        srcs = [stem + ".pb.cc"],
        hdrs = [stem + ".pb.h"],
        visibility = visibility,
        deps = ["@debian//:protobuf"],
    )
