"""Arguments of kernels that apply other kernels: their branches are Python objects, and no attributes. Importing this
registers how they become attributes.

The kernel's own __init__ calls these, so they call that of its base by name."""

from collections.abc import Sequence
from typing import Any

from headrace._graph.adapters import adapted, adapts
from headrace._kernels.chooser import Chooser
from headrace._kernels.kernel import Kernel

__all__ = ["adapted"]

Branches = Sequence[Kernel | Sequence[Kernel]]


@adapts("RandomChoice")
def random_choice(chooser: Chooser, /, branches: Branches, **attributes: Any) -> None:
    Chooser.__init__(chooser, attributes, branches)


@adapts("Compose", "RandomApply")
def of_one_branch(chooser: Chooser, /, kernels: Sequence[Kernel], **attributes: Any) -> None:
    Chooser.__init__(chooser, attributes, [kernels])


@adapts("RandomOrder", "UniformAugment")
def of_single_kernels(chooser: Chooser, /, kernels: Sequence[Kernel], **attributes: Any) -> None:
    Chooser.__init__(chooser, attributes, kernels)


@adapts("RandomSelectSubpolicy")
def random_select_subpolicy(chooser: Chooser, /, policy: Any, **attributes: Any) -> None:
    lengths, chances, kernels = chooser._subpolicies(policy)
    Chooser.__init__(chooser, {"lengths": lengths, "chances": chances, **attributes}, kernels)
