"""Golden data for warp_test.cc: Pillow's rotate and transform, with torchvision's matrices, written out."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from PIL import Image

from kernels.testdata.golden import RowRandom, float_source, save, source

FILTERS = (Image.Resampling.NEAREST, Image.Resampling.BILINEAR, Image.Resampling.BICUBIC)
FILL = (10, 20, 30)
ANGLES = (0.0, 30.0, -77.7, 90.0, 180.0, 270.0, 451.5)


def part() -> np.ndarray:
    return source()[10:40, 20:60]


def inverse(
    center: Sequence[float], angle: float, translate: Sequence[float], scale: float, shear: Sequence[float]
) -> list[float]:
    """torchvision's _get_inverse_affine_matrix, of transforms.v2."""
    rot, sx, sy = math.radians(angle), math.radians(shear[0]), math.radians(shear[1])
    a = math.cos(rot - sy) / math.cos(sy)
    b = -(a * math.tan(sx) + math.sin(rot))
    c = math.sin(rot - sy) / math.cos(sy)
    d = math.cos(rot) - c * math.tan(sx)
    matrix = [value / scale for value in (d, -b, 0.0, -c, a, 0.0)]
    to = (center[0] + translate[0], center[1] + translate[1])
    matrix[2] += center[0] - matrix[0] * to[0] - matrix[1] * to[1]
    matrix[5] += center[1] - matrix[3] * to[0] - matrix[4] * to[1]
    return matrix


def affine(
    image: Image.Image,
    resample: Image.Resampling,
    angle: float = 0,
    translate: Sequence[float] = (0, 0),
    scale: float = 1,
    shear: Sequence[float] = (0, 0),
    center: Sequence[float] | None = None,
) -> np.ndarray:
    matrix = inverse(center or (image.width * 0.5, image.height * 0.5), angle, translate, scale, shear)
    return np.asarray(image.transform(image.size, Image.Transform.AFFINE, matrix, resample, fillcolor=FILL))


def corners(image: Image.Image) -> list[tuple[float, float]]:
    right, bottom = image.width - 1, image.height - 1
    return [(0, 0), (right, 0), (right, bottom), (0, bottom)]


def solved(rows: list[list[float]]) -> list[float]:
    """By elimination with pivots, each operation in float64 as in ProjectionOf: at the image's border the last bit of the
    map decides what is inside."""
    for column in range(8):
        pivot = max(range(column, 8), key=lambda row: abs(rows[row][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for row in range(8):
            if row != column:
                factor = rows[row][column] / rows[column][column]
                for i in range(column, 9):
                    rows[row][i] -= factor * rows[column][i]
    return [rows[i][8] / rows[i][i] for i in range(8)]


def projective(image: Image.Image, resample: Image.Resampling, to: Sequence[tuple[float, float]]) -> np.ndarray:
    """The equations of torchvision's _get_perspective_coeffs; from the image's corners."""
    rows: list[list[float]] = []
    for (x, y), (u, v) in zip(to, corners(image), strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y, u], [0, 0, 0, x, y, 1, -v * x, -v * y, v]]
    by_numpy = np.linalg.solve(np.array(rows, float)[:, :8], np.array(rows, float)[:, 8])
    map_ = solved([[float(value) for value in row] for row in rows])
    assert np.allclose(map_, by_numpy, rtol=1e-9, atol=1e-12)
    return np.asarray(image.transform(image.size, Image.Transform.PERSPECTIVE, map_, resample, fillcolor=FILL))


def random_rotated(image: Image.Image, row: int) -> np.ndarray:
    angle = RowRandom(0, 0, 0, row).uniform(-40, 40)
    return np.asarray(image.rotate(angle, Image.Resampling.NEAREST, fillcolor=FILL))


def random_affine(image: Image.Image, row: int) -> np.ndarray:
    random = RowRandom(0, 0, 0, row)
    angle = random.uniform(-15, 30)
    most = (0.1 * image.width, 0.3 * image.height)
    translate = [round(random.uniform(-side, side)) for side in most]
    scale = random.uniform(0.7, 1.4)
    shear = (random.uniform(-5, 5), random.uniform(1, 8))
    return affine(image, Image.Resampling.BILINEAR, angle, translate, scale, shear)


def random_projective(image: Image.Image, row: int) -> np.ndarray:
    random = RowRandom(0, 0, 0, row)
    random.uniform()
    bounds = [int(0.6 * (side // 2)) + 1 for side in image.size]
    to = []
    for x, y in corners(image):
        dx, dy = (random.below(bound) for bound in bounds)
        to.append((x - dx if x else dx, y - dy if y else dy))
    return projective(image, Image.Resampling.BILINEAR, to)


def blurred(field: np.ndarray, sigma: Sequence[float]) -> np.ndarray:
    """By a Gaussian along x and along y, mirrored at the border, in float64."""
    for axis, deviation in ((1, sigma[0]), (0, sigma[1])):
        if deviation == 0:
            continue
        size = int(8 * deviation + 1) | 1
        at = np.arange(size) - size // 2
        weights = np.exp(-0.5 * (at / deviation) ** 2)
        margins = [(0, 0), (0, 0)]
        margins[axis] = (size // 2, size // 2)
        padded = np.pad(field, margins, mode="reflect")
        field = np.apply_along_axis(np.convolve, axis, padded, weights / weights.sum(), "valid")
    return field


def elastic(
    image: np.ndarray, row: int, alpha: Sequence[float], sigma: Sequence[float], nearest: bool = False
) -> np.ndarray:
    """torchvision's displacement in pixels; between pixels by two lines, and beyond the image FILL."""
    random = RowRandom(0, 0, 0, row)
    height, width = image.shape[:2]
    fields = []
    for most in (alpha[0] * width / height / 2, alpha[1] * height / width / 2):
        drawn = np.array([random.uniform(-1, 1) for _ in range(height * width)]).reshape(height, width)
        fields.append(most * blurred(drawn, sigma))
    y, x = np.mgrid[:height, :width] + np.array(fields)[::-1]
    outside = (x < -0.5) | (x >= width - 0.5) | (y < -0.5) | (y >= height - 0.5)
    if nearest:
        moved = image[
            np.clip(np.floor(y + 0.5), 0, height - 1).astype(int), np.clip(np.floor(x + 0.5), 0, width - 1).astype(int)
        ]
    else:
        left, top = np.floor(x).astype(int), np.floor(y).astype(int)
        part_x, part_y = (x - left)[..., None], (y - top)[..., None]

        def at(row: np.ndarray, column: np.ndarray) -> np.ndarray:
            return image[np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)].astype(np.float64)

        above = at(top, left) * (1 - part_x) + at(top, left + 1) * part_x
        below = at(top + 1, left) * (1 - part_x) + at(top + 1, left + 1) * part_x
        moved = above * (1 - part_y) + below * part_y
    return np.where(outside[..., None], np.array(FILL), np.trunc(moved)).astype(image.dtype)


def main() -> None:
    image = Image.fromarray(part())
    save("warp.elastic", np.stack([elastic(part(), row, (90, 60), (2, 3)) for row in range(3)]))
    save("warp.elastic.strong", elastic(part(), 3, (300, 500), (5, 5)))
    save("warp.elastic.nearest", elastic(part(), 4, (30, 30), (0, 0), nearest=True))
    square = Image.fromarray(part()[:, :30])
    for name, each in (("wide", image), ("square", square)):
        turned = [np.asarray(each.rotate(angle, f, fillcolor=FILL)) for f in FILTERS for angle in ANGLES]
        save(f"warp.rotate.{name}", np.stack(turned))
    save("warp.rotate.center", np.asarray(image.rotate(25, FILTERS[1], center=(3, 20.5), fillcolor=FILL)))
    for angle in (30, 90, 180, 307):
        save(f"warp.rotate.expand.{angle}", np.asarray(image.rotate(angle, FILTERS[2], expand=True, fillcolor=FILL)))
    floats = Image.fromarray(float_source()[10:40, 20:60, 1])
    save("warp.rotate.float32", np.stack([np.asarray(floats.rotate(25, f, fillcolor=-3.5)) for f in FILTERS]))
    warped = []
    for f in FILTERS:
        warped.append(affine(image, f, 20, (3, -2), 1.3, (10, -5)))
        warped.append(affine(image, f, scale=0.6, translate=(2.5, 1)))
        warped.append(affine(image, f, shear=(20, 0), center=(0, 0)))
        warped.append(affine(image, f, scale=0.0004, angle=3))
        warped.append(projective(image, f, [(3, 2), (35, 0), (39, 28), (5, 25)]))
    save("warp.affine", np.stack(warped))
    # Sizes for which the order of the matrix's operations shows in the pixels.
    save("warp.affine.wide", affine(Image.fromarray(source()[10:17, 20:31]), FILTERS[1], -10.9, (1, -3), 0.5, (8, -53)))
    save("warp.affine.large", affine(Image.fromarray(source()[10:21, 20:45]), FILTERS[1], 18, (-2, 4), 1, (35.6, 0)))
    save("warp.random_rotation", np.stack([random_rotated(image, row) for row in range(4)]))
    save("warp.random_affine", np.stack([random_affine(image, row) for row in range(4)]))
    save("warp.random_perspective", np.stack([random_projective(image, row) for row in range(4)]))


if __name__ == "__main__":
    main()
