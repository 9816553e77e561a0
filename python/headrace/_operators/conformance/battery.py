"""`BATTERIES` lists the checks that each kind of operator goes through."""

import dataclasses

from headrace._operators.conformance import (
    damage_checks,
    dataset_checks,
    format_checks,
    kernel_checks,
    pipeline_checks,
    source_checks,
)
from headrace._operators.conformance.leak_check import format_leaks, leaks, source_leaks
from headrace._operators.conformance.subject import Check, FormatSubject, KernelSubject, SourceSubject, Subject


@dataclasses.dataclass(frozen=True)
class Battery:
    """In their order: the first one finds what the others use, and is needed by them."""

    subject: type[Subject]
    checks: dict[str, Check]


_KERNEL = Battery(
    KernelSubject,
    {
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
        "notes": kernel_checks.notes,
        "leaks": leaks,
    },
)
_SOURCE = Battery(
    SourceSubject,
    {
        "columns": source_checks.columns,
        "attributes": source_checks.attributes,
        "row count": source_checks.row_count,
        "no rows": source_checks.no_rows,
        "positions": source_checks.positions,
        "memory": source_checks.memory,
        "errors": source_checks.errors,
        "same bytes": source_checks.same_bytes,
        "pipelines": dataset_checks.pipelines_of_source,
        "shards": dataset_checks.shards_of_source,
        "states": dataset_checks.states_of_source,
        "leaks": source_leaks,
    },
)
_FORMAT = Battery(
    FormatSubject,
    {
        "columns": format_checks.columns,
        "attributes": format_checks.attributes,
        "row borders": format_checks.row_borders,
        "splits": format_checks.splits,
        "resume": format_checks.resume,
        "truncated": damage_checks.truncated,
        "damaged": damage_checks.damaged,
        "reads": damage_checks.reads,
        "memory": format_checks.memory,
        "errors": format_checks.errors,
        "same bytes": format_checks.same_bytes,
        "several files": dataset_checks.several_files,
        "pipelines": dataset_checks.pipelines_of_format,
        "shards": dataset_checks.shards_of_format,
        "states": dataset_checks.states_of_format,
        "leaks": format_leaks,
    },
)
BATTERIES = {"kernel": _KERNEL, "source": _SOURCE, "format": _FORMAT}
