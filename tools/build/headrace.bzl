"""Rules for Headrace's own C++, with the warnings and the floating-point rules that all rooms share."""

load("@cuda//:nvcc.bzl", "NVCC", "NVCC_VERSION")
load("//tools/build:precompiled.bzl", "precompiled_header")

_WARNINGS = ["-Wall", "-Wextra", "-Werror"]

# a*b+c contracted into one FMA gives different bits on different CPUs, and bits are guaranteed.
_NUMBERS = ["-ffp-contract=off"]

_COPTS = _WARNINGS + _NUMBERS

# GCC takes the sources that are merged into one for headers, in which private types are doubtful.
_MERGED_COPTS = _WARNINGS + ["-Wno-subobject-linkage"] + _NUMBERS

# Room between functions, and before what jumps lead to: 3% of the code, and no time that can be measured. Loops keep it.
_CLOSE = ["-fno-align-functions", "-fno-align-jumps", "-fno-align-labels"]

# -O2's limits: with those of -O3 a kernel's declaration and errors are 15% of code more, and its loops as fast. A call
# takes 0.1 us more, which is little beside a picture, and much beside a number.
_INLINED_AS_O2 = [
    "--param=early-inlining-insns=6",
    "--param=inline-min-speedup=30",
    "--param=max-inline-insns-auto=15",
    "--param=max-inline-insns-single=70",
]

# How sources of each kind are compiled with -c opt. Loops over pixels gain from -O3; what runs once a pipeline has two
# thirds of its size with -Os; tests take half the time to compile without optimization, unless they compute for long.
_OPTIMIZATION = {
    "engine": _CLOSE,
    "kernels": ["-O3"] + _INLINED_AS_O2 + _CLOSE,
    "light_kernels": ["-O3"] + _CLOSE,
    "once": ["-Os"],
    "python": ["-O1"],
    "tests": ["-O0", "-U_FORTIFY_SOURCE"],
    "long_tests": ["-O1"],
}

# As pybind11's own namespace: a class with hidden members must be hidden itself.
_VISIBILITY = {"python": ["-fvisibility=hidden"]}

# The headers that are not standard.h.
_HEADERS = {
    "python": "standard_python.h",
    "tests": "standard_tests.h",
    "long_tests": "standard_tests.h",
}

# What GCC says of a precompiled header: it takes Abseil's inlined functions for ours. Of ours alone it says so under
# ThreadSanitizer.
_PRECOMPILED_WARNINGS = ["-Wno-array-bounds", "-Wno-maybe-uninitialized"]

# All options of a precompiled header, those of the sources that begin with it: GCC takes some of them from the header.
def _header_copts(kind):
    return _MERGED_COPTS + _VISIBILITY.get(kind, []) + _OPTIMIZATION[kind]

# Named by its options: Bazel does not see that sources depend on a precompiled header.
def _header_name(kind):
    return "%s_%s" % (kind, str(hash(" ".join(_header_copts(kind)))).replace("-", "0"))

# The options of sources of a kind; None: none. With -c opt they begin with a header that is parsed once for all sources of
# the kind; the other configurations show what a source fails to include.
def _kind_copts(kind):
    if not kind:
        return []
    header = ["-include", "$(BINDIR)/tools/build/%s.h" % _header_name(kind), "-Winvalid-pch"]
    return _VISIBILITY.get(kind, []) + select({
        "//tools/build:optimized": _OPTIMIZATION[kind] + header + _PRECOMPILED_WARNINGS,
        "//conditions:default": [],
    })

def _kind_deps(kind):
    if not kind:
        return []
    return select({
        "//tools/build:optimized": ["//tools/build:" + _header_name(kind)],
        "//conditions:default": [],
    })

def headrace_precompiled_headers(python):
    """The headers of all kinds; `python`: what the header for Python includes."""
    for kind in _OPTIMIZATION:
        header = _HEADERS.get(kind, "standard.h")
        precompiled_header(
            name = _header_name(kind),
            testonly = header == "standard_tests.h",
            srcs = ["standard.h"],
            copts = _header_copts(kind),
            hdr = header,
            visibility = ["//visibility:public"],
            deps = python if kind == "python" else [],
        )

# Sources that are compiled at a time: most of what the compiler does for one is to parse the headers that all include.
_MERGED = 8
_MERGED_TESTS = 5

# Test files that one process runs.
_SHARD = 6

def merged_sources(name, srcs, suffix = "", size = _MERGED):
    """`srcs` as fewer sources, each with the text of up to `size` of them; under --config=alone, `srcs` themselves.

    Names of one library's sources are therefore unique, those without linkage, too. Lines keep their file and number.
    A source that includes itself (Highway's foreach_target.h) must stay alone.
    """
    if len(srcs) < 2:
        return srcs
    groups = (len(srcs) + size - 1) // size
    merged = []
    for group in range(groups):
        members = srcs[group * len(srcs) // groups:(group + 1) * len(srcs) // groups]
        output = "%s_part%d%s.cc" % (name, group, suffix)
        native.genrule(
            name = output + "_merge",
            srcs = members,
            outs = [output],
            cmd = "for source in $(SRCS); do printf '#line 1 \"%s\"\\n' $$source; cat $$source; done > $@",
        )
        merged.append(output)
    return select({
        "//tools/build:alone": srcs,
        "//conditions:default": merged,
    })

def headrace_cc_library(
        name,
        srcs = [],
        alone = [],
        generated = [],
        merged = _MERGED,
        kind = "engine",
        copts = [],
        deps = [],
        **kwargs):
    """A library; those of `srcs` that are not named in `alone` are compiled `merged` at a time.

    `generated` are files that the sources include. `kind` says how they are compiled.
    """
    native.cc_library(
        name = name,
        srcs = merged_sources(name, [src for src in srcs if src not in alone], size = merged) + alone + generated,
        copts = _MERGED_COPTS + copts + _kind_copts(kind),
        deps = deps + _kind_deps(kind),
        # Everything is linked from archives: a shared object of each library would be linked for nothing.
        linkstatic = True,
        **kwargs
    )

def headrace_room(
        name,
        folders = [""],
        apart = [],
        alone = [],
        generated = [],
        kind = "engine",
        deps = [],
        copts = [],
        linkopts = [],
        alwayslink = False,
        test_deps = [],
        test_data = [],
        test_size = "medium",
        test_tags = [],
        test_kind = "tests",
        shards = None,
        fuzz_deps = []):
    """A folder: one library NAME, one test program NAME_test, and its fuzz tests.

    `folders` are this folder and those below that belong to the room. Files named in `apart` are left to other rules,
    those in `alone` are compiled by themselves; `generated` are further inputs of the sources. `kind` and
    `test_kind` say how both are compiled. `shards` processes share the tests; one for six files unless said.
    """
    sources = native.glob([folder + "*.cc" for folder in folders], exclude = apart)
    tests = [source for source in sources if source.endswith("_test.cc")]
    fuzz_tests = [source for source in sources if source.endswith("_fuzz.cc")]
    headrace_cc_library(
        name = name,
        srcs = [source for source in sources if source not in tests + fuzz_tests],
        hdrs = native.glob([folder + "*.h" for folder in folders], exclude = apart, allow_empty = True),
        alone = alone,
        generated = generated,
        kind = kind,
        copts = copts,
        linkopts = linkopts,
        alwayslink = alwayslink,
        deps = deps,
    )
    if tests:
        headrace_cc_test(
            name = name + "_test",
            size = test_size,
            srcs = tests,
            data = test_data,
            shard_count = shards or (len(tests) + _SHARD - 1) // _SHARD,
            tags = test_tags,
            kind = test_kind,
            deps = [":" + name] + deps + test_deps,
        )
    for fuzz_test in fuzz_tests:
        headrace_cc_fuzz_test(
            name = fuzz_test[:-len(".cc")].rpartition("/")[2],
            srcs = [fuzz_test],
            deps = [":" + name] + deps + fuzz_deps,
        )

def headrace_cc_binary(name, kind = "engine", copts = [], deps = [], **kwargs):
    """A program; `kind` as for libraries, None for sources in C."""
    native.cc_binary(
        name = name,
        copts = _COPTS + copts + _kind_copts(kind),
        deps = deps + _kind_deps(kind),
        **kwargs
    )

# Libraries that are linked, without their headers: a change of one does not recompile what depends on this.
def _linked_library(ctx):
    linked = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    return [CcInfo(linking_context = linked.linking_context)]

linked_library = rule(
    implementation = _linked_library,
    attrs = {"deps": attr.label_list(providers = [CcInfo])},
)

# At a fixed address a test needs no table of relocations, a quarter of its size under AddressSanitizer.
_TEST_LINKOPTS = ["-no-pie"]

def headrace_cc_test(name, srcs, kind = "tests", copts = [], linkopts = [], deps = [], size = "small", **kwargs):
    """A test program; its sources are compiled several at a time. `kind`: "long_tests" for tests that compute for long."""
    native.cc_test(
        name = name,
        size = size,
        srcs = merged_sources(name, srcs, "_test", _MERGED_TESTS),
        copts = _MERGED_COPTS + copts + _kind_copts(kind),
        linkopts = _TEST_LINKOPTS + linkopts,
        deps = _unique(deps + ["@debian//:gtest"] + _thread_deps(kwargs.get("tags", []))) + _kind_deps(kind),
        **kwargs
    )

def _thread_deps(tags):
    return ["//core/testing:unseen_ordering"] if "threads" in tags else []

def _unique(labels):
    return {label: None for label in labels}.keys()

def headrace_cc_fuzz_test(name, srcs = None, deps = [], data = [], linkopts = [], small_stack = True, **kwargs):
    """A parser of bytes from outside, given any bytes: NAME.cc holds LLVMFuzzerTestOneInput.

    It is a libFuzzer program, so only --config=asan builds it. As a test it replays the files of corpus/NAME beside it;
    tools/fuzz runs it. A dictionary for libFuzzer may stand in corpus/NAME.dict. Its stack has 1 MiB, so that what
    recurses by the length of its input is found; without `small_stack` it has the system's.
    """
    native.cc_test(
        name = name,
        size = "small",
        srcs = srcs or [name + ".cc"],
        copts = _COPTS,
        args = ["-runs=0", native.package_name() + "/corpus/" + name],
        data = data + native.glob(["corpus/" + name + "/*"]),
        linkopts = _TEST_LINKOPTS + ["-fsanitize=fuzzer"] + linkopts,
        deps = _unique(deps + (["//core/testing:small_stack"] if small_stack else [])),
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
        # Functions with the same code, of which nobody compares the addresses, are one.
        linkopts = ["-Wl,--version-script=$(location //tools/build:python_module.lds)", "-Wl,--icf=safe"],
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

def headrace_proto_library(name, src, protobuf = "@debian//:protobuf", testonly = False, visibility = None):
    """C++ of one .proto file; NAME.pb.h and NAME.pb.cc without our warnings, as the code is protoc's.

    A .proto of the product says `option optimize_for = LITE_RUNTIME`, which `protobuf` is for. `src` may be made by a rule.
    """
    stem = src[:-len(".proto")]
    zeroed = "//tools/build:zeroed_oneofs.sed"
    native.genrule(
        name = name + "_protoc",
        testonly = testonly,
        srcs = [src],
        outs = [stem + ".pb.h", stem + ".pb.cc"],
        cmd = "protoc -I$(GENDIR) -I. --cpp_out=$(GENDIR) $(SRCS) && " +
              "sed -E -i -f $(location %s) $(location %s.pb.cc)" % (zeroed, stem),
        tools = [zeroed],
    )
    native.cc_library(
        name = name,
        testonly = testonly,
        srcs = [stem + ".pb.cc"],
        hdrs = [stem + ".pb.h"],
        linkstatic = True,
        visibility = visibility,
        deps = [protobuf],
    )

def headrace_proto_descriptor(name, src):
    """What a .proto file declares, as protoc describes it: NAME.inc holds the numbers of the bytes, for an array."""
    native.genrule(
        name = name,
        srcs = [src],
        outs = [name + ".inc"],
        cmd = "protoc -I. --descriptor_set_out=$(@D)/%s.bytes $< && " % name +
              "od -An -v -tu1 -w32 $(@D)/%s.bytes | sed -E 's/ +([0-9]+)/\\1,/g' > $@" % name,
    )
