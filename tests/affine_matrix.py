"""The maps of the plane by which torchvision moves what follows an image."""

import math
from typing import Any

import numpy as np


def affine_matrix(angle: float, translate: Any, scale: float, shear: Any, center: Any) -> np.ndarray:
    """torchvision's, from the image to the result."""
    rotation, along, down = math.radians(angle), math.radians(shear[0]), math.radians(shear[1])
    a = math.cos(rotation - down) / math.cos(down)
    b = -math.cos(rotation - down) * math.tan(along) / math.cos(down) - math.sin(rotation)
    c = math.sin(rotation - down) / math.cos(down)
    d = -math.sin(rotation - down) * math.tan(along) / math.cos(down) + math.cos(rotation)
    turned = np.array([[a, b], [c, d]]) * scale
    middle = np.array(center)
    return np.column_stack([turned, middle + translate - turned @ middle])
