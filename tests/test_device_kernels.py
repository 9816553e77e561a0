"""Kernels of devices compute with a few operations alone, + − × ÷ √ and integers, so that their results are the host's in
every bit."""

import re

import pytest

from tests.conftest import ROOT

SOURCES = [path for end in ("cu", "h") for path in (ROOT / "engine/device").glob(f"byte_*.{end}")]
# Of C's mathematical library and CUDA's, in single precision and as intrinsics, too; square roots are exact.
FUNCTIONS = (
    "acos acosh asin asinh atan atan2 atanh cbrt cos cosh cospi erf erfc erfinv exp exp10 exp2 expm1 fma fmod frcp hypot "
    "log log10 log1p log2 logb pow remainder rsqrt sin sinh sincos sinpi tan tanh tgamma lgamma"
).split()
CALL = re.compile(rf"\b_{{0,2}}f?(?:{'|'.join(FUNCTIONS)})[fl]?(?:_r[nuzd])?\s*\(")


def without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*", "", text)


@pytest.mark.parametrize("call", ["expf(x)", "pow (x, y)", "__fmaf_rn(a, b, c)", "std::log(x)", "__expf(x)"])
def test_calls_are_recognized(call):
    assert CALL.search(f"y = {call};")


def test_kernels_call_no_mathematical_function():
    assert {"byte_mapping.cu", "byte_mapping.h", "byte_passes.h"} <= {path.name for path in SOURCES}
    for path in SOURCES:
        text = without_comments(path.read_text())
        assert not CALL.search(text) and not re.search(r"#include <c?math", text), path
