"""`precompiled_header` parses headers once for all sources that begin with them.

GCC writes another file each time, and what is compiled depends on it: it must stay in the cache of what was compiled.
"""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "CPP_COMPILE_ACTION_NAME")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _precompiled_header(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    given = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps]).compilation_context
    header = ctx.actions.declare_file(ctx.label.name + ".h")
    ctx.actions.symlink(output = header, target_file = ctx.file.hdr)
    precompiled = ctx.actions.declare_file(header.basename + ".gch")
    options = ctx.fragments.cpp
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = header.path,
        output_file = precompiled.path,
        user_compile_flags = options.copts + options.cxxopts + ctx.attr.copts + ["-x", "c++-header"],
        include_directories = given.includes,
        quote_include_directories = depset(["."], transitive = [given.quote_includes]),
        system_include_directories = given.system_includes,
        preprocessor_defines = given.defines,
        use_pic = True,
    )
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
        ),
        arguments = cc_common.get_memory_inefficient_command_line(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
            variables = variables,
        ),
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
            variables = variables,
        ),
        inputs = depset([header] + ctx.files.srcs, transitive = [given.headers, toolchain.all_files]),
        outputs = [precompiled],
        mnemonic = "CppPrecompile",
    )
    files = depset([header, precompiled])
    return [
        DefaultInfo(files = files),
        CcInfo(compilation_context = cc_common.create_compilation_context(headers = files)),
    ]

precompiled_header = rule(
    implementation = _precompiled_header,
    attrs = {
        "hdr": attr.label(allow_single_file = [".h"], mandatory = True),
        "srcs": attr.label_list(allow_files = [".h"], doc = "Headers of ours that it includes."),
        "copts": attr.string_list(doc = "Those of the sources that begin with it."),
        "deps": attr.label_list(providers = [CcInfo], doc = "What the header includes."),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
    incompatible_use_toolchain_transition = True,
)
