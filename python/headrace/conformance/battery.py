"""Which checks an operator goes through, by what it is. Operators of other kinds get a battery of their own here."""

from headrace.conformance import kernel_checks, pipeline_checks
from headrace.conformance.leak_check import leaks
from headrace.conformance.subject import Check

# In their order: the first one finds what the others use, and is needed by them.
BATTERIES: dict[str, dict[str, Check]] = {
    "kernel": {
        "inference": kernel_checks.inference,
        "attributes": kernel_checks.attributes,
        "refusals": pipeline_checks.refusals,
        "empty inputs": kernel_checks.empty_inputs,
        "sizes": kernel_checks.sizes,
        "extreme values": kernel_checks.extreme_values,
        "huge input": kernel_checks.huge_input,
        "memory": kernel_checks.memory,
        "errors": kernel_checks.errors,
        "same bytes": kernel_checks.same_bytes,
        "pipelines": pipeline_checks.pipelines,
        "random numbers": kernel_checks.random_numbers,
        "pointwise": kernel_checks.pointwise,
        "fillers": kernel_checks.fillers,
        "leaks": leaks,
    },
}
