"""Configs of other libraries' image processors, converted to kernels. `hugging_face`, `timm` and `torchvision` know one
library's each; `image_steps` has what all of them make."""

from typing import TYPE_CHECKING

from headrace._arguments.late_room import late_room

__all__ = ["kernels_of"]

if TYPE_CHECKING:
    from headrace._inference.processors.conversion import kernels_of
else:
    __getattr__ = late_room(__name__, {"kernels_of": "conversion"})
