"""`headrace check-plugin`: kernels that keep the rules pass, and each broken rule is found and named."""

import ctypes
import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest
from checked_plugins import SMALL, checked
from conftest import ROOT, eventually

import headrace as hr
from headrace.__main__ import main
from headrace._operators.conformance import interface
from tests.compiled_plugins import library_of
from tests.thinning import QUICK, one_in

BROKEN = pathlib.Path(__file__).with_name("broken_kernels.c")


def of_c(name, text, *options):
    return library_of(name, text, "-O1", *options, language="c")


@pytest.fixture(scope="session")
def broken():
    return of_c("brokenops", BROKEN.read_text())


@pytest.fixture(scope="session")
def few_broken():
    return of_c("brokenops", BROKEN.read_text(), "-DFEW")


def test_the_example_passes(capfd):
    library = library_of("frames", (ROOT / "examples/plugin/vignette.cc").read_text())
    code, printed = checked(capfd, library, *SMALL)
    *lines, last = printed.splitlines()
    assert (code, last) == (0, "frames 1.0: 12 checks of 1 operator, all hold")
    assert all(line.startswith("frames.Vignette  ") and line.endswith("  ok") for line in lines)
    names = (
        "inference, attributes, refusals, empty inputs, sizes, extreme values, huge input, memory, errors, same bytes"
    )
    assert [line[16:32].strip() for line in lines] == [*names.split(", "), "pipelines", "leaks"]


# Of each broken kernel the check that finds it, what was given and what came.
FOUND = {
    "OtherShape": (
        "inference",
        "float32 (5, 7, 3)",
        "apply() gives float32 (5, 7, 3) for output 0, and infer() says float32 (6, 7, 3)",
    ),
    "TooMuch": ("inference", "float32 (?, ?, ?)", "infer() says float32 (1, 1, 1), and float32 (5, 7, 3) once"),
    "Draws": ("inference", "float32", "asks for random numbers and does not declare HEADRACE_RANDOM"),
    "RefusesFour": ("attributes", "size=4", "create() gives GraphError: has no table 4"),
    "LooksUp": (
        "attributes",
        "size=1099511627776, which the declaration allows",
        "create() ended the process by SIGSEGV",
    ),
    "Divides": ("empty inputs", "float32 (0, 7, 3)", "apply() ended the process by SIGFPE"),
    "Silent": ("extreme values", "each element NaN", "apply() returned DataError and did not say why"),
    "Overruns": ("memory", "float32 (5, 7, 3)", "apply() wrote after output 0, which has 420 bytes: 1 or more"),
    "OverrunsEmpty": (
        "empty inputs",
        "float32 (0, 7, 3)",
        "apply() wrote after output 0, which has 0 bytes: 1 or more",
    ),
    "Fails": ("inference", "every type that infer() takes", "apply() gives DataError: no for all of them"),
    "Overreads": (
        "memory",
        "memory after inputs and outputs that cannot be touched",
        "apply() ended the process by SIGSEGV",
    ),
    "Spoils": ("memory", "float32 (5, 7, 3)", "apply() wrote into input 0"),
    "Unwritten": ("memory", "float32 (5, 7, 3)", "apply() leaves 4 of 420 bytes of output 0 as they were"),
    "Ignores": ("errors", "a host whose allocate() gives an error", "apply() ended the process by SIGSEGV"),
    "Counts": ("same bytes", "float32 (5, 7, 3)", "row 0 has other results again"),
    "Rands": ("same bytes", "float32 (5, 7, 3)", "row 0 has other results again"),
    "RandsAsRandom": ("random numbers", "float32", "the row of key 0 has other results when it is made again"),
    "NeverDraws": ("random numbers", "float32", "no random number was asked for"),
    "Sums": ("pointwise", "float32 (5, 7, 3)", "the results of 5 rows as one tensor are not those of each row"),
    "Joins": ("fillers", "float32 (6, 5, 7, 3)", "with the contents of a row that fillers() marks"),
    "Leaks": ("leaks", "float32 (1, 1, 1)", "bytes a call, in 900 calls of apply()"),
    "Keeps": ("leaks", "the same attributes", "bytes a call, in 900 calls of create() and destroy()"),
    # In pipelines, which take longer.
    "ByData": ("refusals", "uint8 (5, 7, 3)", "cannot read it"),
    "CountsThreads": ("pipelines", "float32 (5, 7, 3)", "row"),
}
# Those in the engine's pipelines take longer.
IN_PIPELINES = [kernel for kernel, (check, *_) in FOUND.items() if check in ("refusals", "pipelines")]
OTHERS = [kernel for kernel in FOUND if kernel not in IN_PIPELINES]


@pytest.mark.parametrize("kernels", [one_in(3, OTHERS), IN_PIPELINES], ids=["calls", "pipelines"])
def test_every_broken_kernel_is_found_and_named(capfd, broken, few_broken, kernels):
    """And one that keeps the rules passes beside them."""
    library = few_broken if kernels == IN_PIPELINES else broken
    chosen = [option for name in sorted({FOUND[kernel][0] for kernel in kernels}) for option in ("--check", name)]
    operators = [option for name in ["Right", *kernels] for option in ("--operator", name)]
    code, printed = checked(capfd, library, "--json", *chosen, *operators, *SMALL)
    report = json.loads(printed)
    assert (code, report["plugin"], report["file"]) == (1, "brokenops", str(library))
    failed = {(each["operator"], each["check"]): each for each in report["checks"] if not each["ok"]}
    assert report["failed"] == len(failed)
    for kernel in kernels:
        check, given, came = FOUND[kernel]
        found = failed[f"brokenops.{kernel}", check]
        assert given in found["given"] and came in found["came"] and found["advice"], found
    assert not [found for found in failed.values() if found["operator"] == "brokenops.Right"]


def test_a_kernel_that_does_not_return_is_named(capfd, few_broken):
    """Of which nothing more is checked."""
    code, printed = checked(capfd, few_broken, "--operator", "Hangs", "--time-limit", "6")
    assert code == 1 and printed.splitlines() == [
        "brokenops.Hangs          inference       FAILED",
        "    given: float32 ()",
        "    came:  apply() did not return within 6 s",
        "    do:    let it return; of an attribute without bounds, declare them; --time-limit gives more time",
        "brokenops 1: 1 check of 1 operator, 1 failed",
    ]


@pytest.mark.timing
def test_ctrl_c_ends_all_processes(few_broken):
    command = [sys.executable, "-m", "headrace", "check-plugin", str(few_broken)]
    options = ["--operator", "ByData", "--operator", "Hangs", "--check", "inference", "--time-limit", "30"]
    with subprocess.Popen(
        [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as tool:
        assert tool.stdout is not None and b"ByData" in tool.stdout.readline()
        os.killpg(tool.pid, signal.SIGINT)
        _, said = tool.communicate(timeout=60)
    assert (tool.returncode, said) == (130, b"headrace: interrupted\n")
    assert eventually(lambda: not in_group(tool.pid))


def in_group(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("seed", one_in(2, ["0", "7"]))
def test_every_kind_of_kernel_passes(capfd, seed):
    """Of several inputs and outputs, of texts, of batches, random ones, and with attributes of every type."""
    library = of_c("myops", (ROOT / "plugin/testing/sample_plugin.c").read_text(), "-lm")
    kernels, few = (
        one_in(2, ["Center", "Noise", "Range", "Scale", "Words"]),
        ["inference", "memory", "same bytes", "fillers"],
    )
    for operators, checks in ((kernels, few if QUICK else []), (["Settings"], few)):
        chosen = [option for name in checks for option in ("--check", name)]
        chosen += [option for name in operators for option in ("--operator", name)]
        code, printed = checked(capfd, library, "--seed", seed, *chosen, *SMALL)
        assert code == 0 and f"of {len(operators)} operator" in printed, printed


def test_what_cannot_be_checked(capfd, tmp_path, few_broken):
    for file, message in ((tmp_path / "none.so", "there is no plugin"), (BROKEN, "cannot be loaded")):
        assert main(["check-plugin", str(file)]) == 2
        assert message in capfd.readouterr().err
    for options, message in (
        (
            ["--operator", "Right", "--operator", "Hang"],
            "it has ByData, CountsThreads, Hangs, Right; did you mean Hangs?",
        ),
        (["--operator", "None"], "--operator None: the plugin brokenops has no operator None; it has "),
        (["--check", "memory", "--check", "memry"], "leaks; did you mean memory?"),
        (["--check", "none"], "--check none: there is no such check; there are of kernels inference, attributes, "),
    ):
        assert main(["check-plugin", str(few_broken), *options]) == 2
        printed = capfd.readouterr()
        assert message in printed.err and not printed.out
    assert main(["check-plugin", str(few_broken), "--memory", "much"]) == 2
    assert "--memory is 'much'" in capfd.readouterr().err


def test_a_sample_stands_for_the_example(capfd, broken):
    chosen = ["--operator", "RefusesFour", "--check", "inference"]
    for sample, code in (("RefusesFour(3)", 0), ("brokenops.RefusesFour(size=4)", 1)):
        found, printed = checked(capfd, broken, *chosen, "--sample", sample, *SMALL)
        assert found == code and ("create() gives GraphError: has no table 4" in printed) == bool(code)
    for sample, message in (
        ("RefusesFour", "--sample is 'RefusesFour': "),
        ("RefusesFour(print())", "': only literal values are taken, and print() is none"),
        ("RefusesFour(10**6)", "--sample is 'RefusesFour(10**6)': only literal values are taken, and 10**6 is none"),
        ("RefusesFour(size={[]: 1})", "only literal values are taken, and {[]: 1} is none"),
        ("brokenops.None_(1)", "the plugin brokenops has no operator None_"),
        ("RefusesFour(3, colour=1)", "unexpected keyword argument 'colour'"),
    ):
        assert main(["check-plugin", str(broken), *chosen, "--sample", sample]) == 2
        assert message in capfd.readouterr().err


ENDS = r"""
#include <signal.h>
#include <unistd.h>
#include "headrace_plugin.h"
const uint32_t headrace_plugin_abi = HEADRACE_PLUGIN_ABI;
__attribute__((constructor)) static void End(void) { HOW; }
int32_t headrace_plugin_query(uint32_t host_abi, const headrace_host* host, headrace_call* call,
                              const headrace_plugin** plugin) {
  return HEADRACE_OK;
}
"""


@pytest.mark.parametrize(
    ("how", "message"),
    [("raise(SIGILL)", "loading ended the process by SIGILL"), ("_exit(7)", "loading ended the process with code 7")],
)
def test_a_library_that_ends_the_process_when_it_is_opened(capfd, how, message):
    assert main(["check-plugin", str(of_c("ends", ENDS, f"-DHOW={how}"))]) == 2
    assert message in capfd.readouterr().err


STRUCTURES = {
    "headrace_tensor": interface.Tensor,
    "headrace_type": interface.Type,
    "headrace_attribute": interface.Attribute,
    "headrace_value": interface.Value,
    "headrace_identity": interface.Identity,
    "headrace_host": interface.Host,
    "headrace_kernel": interface.Kernel,
    "headrace_rows": interface.Rows,
    "headrace_source": interface.Source,
    "headrace_format": interface.Format,
    "headrace_plugin": interface.Plugin,
}
NUMBERS = ["RANDOM", "NOT_DETERMINISTIC", "BY_BATCH", "POINTWISE", "NULLABLE", "HAS_MINIMUM", "HAS_MAXIMUM"]
NUMBERS += [
    "EXCLUSIVE_MINIMUM",
    "BROADCAST",
    "OK",
    "DATA_ERROR",
    "GRAPH_ERROR",
    "RESOURCE_ERROR",
    "FUNCTION_ERROR",
    "MOST_AXES",
]


def test_the_structures_are_those_of_the_header(tmp_path):
    """Of this version: later ones append fields."""
    lines, expected = [], []
    for name, structure in STRUCTURES.items():
        for field, *_ in structure._fields_:
            if field == "later":
                continue
            at = f"{name}, {field}"
            place = getattr(structure, field)
            lines.append(f'printf("{at} %zu %zu\\n", offsetof({at}), sizeof((({name}*)0)->{field}));')
            expected.append(f"{at} {place.offset} {place.size}")
    numbers = {f"HEADRACE_{name}": getattr(interface, name) for name in NUMBERS}
    numbers |= {f"HEADRACE_{name.upper()}": number for number, name in interface.DTYPES.items()}
    for kind in ("BOOL", "INT", "FLOAT", "TEXT", "INTS", "FLOATS", "TEXTS", "DTYPE"):
        numbers[f"HEADRACE_ATTRIBUTE_{kind}"] = getattr(interface, kind)
    numbers["HEADRACE_PLUGIN_ABI"] = interface.ABI
    for name, number in numbers.items():
        lines.append(f'printf("{name} %d\\n", (int){name});')
        expected.append(f"{name} {number}")
    source, program = tmp_path / "layout.c", tmp_path / "layout"
    source.write_text(
        '#include <stdio.h>\n#include "headrace_plugin.h"\nint main(void) {\n' + "\n".join(lines) + "\n}\n"
    )
    subprocess.run(["gcc", f"-I{hr.plugin_include()}", source, "-o", program], check=True, timeout=60)
    printed = subprocess.run([program], check=True, capture_output=True, text=True, timeout=60).stdout
    assert printed.splitlines() == expected
    assert ctypes.sizeof(interface.Identity) == 24
