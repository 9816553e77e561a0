"""Tells for each kernel whether it moves masks, boxes and keypoints, leaves them alone, or looks at them."""

from headrace._graph.declared import companion, operator

__all__ = [
    "changes_boxes",
    "changes_keypoints",
    "converts_boxes",
    "decodes",
    "joins_rows",
    "leaves_targets",
    "looks_at_boxes",
    "moves_boxes",
    "moves_keypoints",
    "needed_target",
]


def _work_of(kernel: str) -> str | None:
    found = operator(kernel)
    return None if found is None else found["target_work"]


def changes_boxes(kernel: str) -> bool:
    """Whether it changes boxes alone, and what belongs to them."""
    return _work_of(kernel) == "changes_boxes" or converts_boxes(kernel)


def converts_boxes(kernel: str) -> bool:
    return _work_of(kernel) == "converts_boxes"


def changes_keypoints(kernel: str) -> bool:
    """Whether it changes keypoints alone, and what belongs to them."""
    return _work_of(kernel) == "changes_keypoints"


def decodes(kernel: str) -> bool:
    return _has(kernel, "decodes")


def joins_rows(kernel: str) -> bool:
    """Whether it works on whole batches."""
    return _has(kernel, "by_batch")


def moves_boxes(kernel: str) -> bool:
    return companion(kernel, "boxes") is not None


def moves_keypoints(kernel: str) -> bool:
    return companion(kernel, "keypoints") is not None


def leaves_targets(kernel: str) -> bool:
    return _has(kernel, "leaves_places", "pointwise", "per_pixel", "layout")


def looks_at_boxes(kernel: str) -> bool:
    """Whether what it does to an image depends on the image's boxes, which it takes beside it."""
    found = operator(kernel)
    return found is not None and moves_boxes(kernel) and found["inputs"]["least"] > 1


def needed_target(kernel: str) -> str | None:
    """The kind of target without which it does not work in a map."""
    if looks_at_boxes(kernel) or changes_boxes(kernel):
        return "boxes"
    return "keypoints" if changes_keypoints(kernel) else None


def _has(kernel: str, *traits: str) -> bool:
    found = operator(kernel)
    return found is not None and any(found["traits"][each] for each in traits)
