"""docs/from-torchvision.md has a line for each name of torchvision.transforms.v2, and names kernels that there are."""

import re

import numpy as np
import pytest
from PIL import Image

import headrace as hr
from headrace import transforms as T
from headrace import vision as V
from tests.conftest import ROOT

PAGE = (ROOT / "docs/from-torchvision.md").read_text()
# Of torchvision 0.29.1: the classes that torchvision.transforms.v2 exports,
CLASSES = """
    AugMix AutoAugment AutoAugmentPolicy CenterCrop ClampBoundingBoxes ClampKeyPoints ColorJitter Compose
    ConvertBoundingBoxFormat ConvertImageDtype CutMix ElasticTransform FiveCrop GaussianBlur GaussianNoise Grayscale
    Identity InterpolationMode JPEG Lambda LinearTransformation MixUp Normalize PILToTensor Pad RGB RandAugment
    RandomAdjustSharpness RandomAffine RandomApply RandomAutocontrast RandomChannelPermutation RandomChoice RandomCrop
    RandomEqualize RandomErasing RandomGrayscale RandomHorizontalFlip RandomInvert RandomIoUCrop RandomOrder
    RandomPerspective RandomPhotometricDistort RandomPosterize RandomResize RandomResizedCrop RandomRotation
    RandomShortestSize RandomSolarize RandomVerticalFlip RandomZoomOut Resize SanitizeBoundingBoxes SanitizeKeyPoints
    ScaleJitter SetClampingMode TenCrop ToDtype ToImage ToPILImage ToPureTensor ToTensor Transform TrivialAugmentWide
    UniformTemporalSubsample
""".split()
# the functions of torchvision.transforms.v2.functional that are not of one type of input,
FUNCTIONS = """
    adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_saturation adjust_sharpness affine autocontrast
    center_crop clamp_bounding_boxes clamp_keypoints convert_bounding_box_format convert_image_dtype crop elastic
    elastic_transform equalize erase five_crop gaussian_blur gaussian_noise get_dimensions get_image_num_channels
    get_image_size get_num_channels get_num_frames get_size grayscale_to_rgb hflip horizontal_flip invert jpeg
    normalize pad permute_channels perspective pil_to_tensor posterize resize resized_crop rgb_to_grayscale rotate
    sanitize_bounding_boxes sanitize_keypoints solarize ten_crop to_dtype to_grayscale to_image to_pil_image to_tensor
    uniform_temporal_subsample vertical_flip vflip
""".split()
# and those of torchvision.io that read and write images.
CODECS = (
    "decode_gif decode_image decode_jpeg decode_png decode_webp encode_jpeg encode_png read_image write_jpeg write_png"
)


def names_in_first_column(tables: str) -> set[str]:
    first = [line.split("|")[1] for line in tables.splitlines() if line.startswith("|")]
    return {name for cell in first for text in re.findall(r"`([^`]*)`", cell) for name in re.findall(r"^[\w.]+", text)}


def test_each_name_of_torchvision_has_a_line():
    names, functions = PAGE.split("## Names\n")[1].split("### Functions\n")
    assert not set(CLASSES) - names_in_first_column(names)
    assert not {*FUNCTIONS, *(f"io.{name}" for name in CODECS.split())} - names_in_first_column(functions)


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_that_is_not_here_says_what_to_write(name):
    if not hasattr(V, name):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'; ."):
            getattr(V, name)


@pytest.mark.parametrize(("short", "module"), [("V", V), ("T", T), ("hr", hr)])
def test_what_the_page_names_is_there(short, module):
    written = set(re.findall(rf"`[^`\n]*?\b{short}\.(\w+)", PAGE))
    assert written and not {name for name in written if not hasattr(module, name)}


IMAGE = np.random.default_rng(3).integers(0, 256, (40, 50, 3), np.uint8)


def test_a_crop_and_a_resizing_are_resized_crop():
    """Of Pillow's images, in one pass."""
    steps = [V.Crop(5, 7, 20, 30), V.Resize((15, 12))]
    expected = Image.fromarray(IMAGE).crop((7, 5, 37, 25)).resize((12, 15), Image.Resampling.BILINEAR)
    np.testing.assert_array_equal(hr.compose(steps)(IMAGE), np.asarray(expected))
    rows = hr.Numpy({"image": IMAGE[None]}).map(steps, "image")
    np.testing.assert_array_equal(next(iter(rows))["image"], np.asarray(expected))


def test_floats_become_bytes_again_as_torchvision_makes_them():
    values = np.linspace(0, 1, 5001, dtype=np.float32).reshape(1, -1, 1)
    back = hr.compose([V.Rescale(255.999), T.TypeCast("uint8")])(values)
    np.testing.assert_array_equal(back, (values * np.float32(255.999)).astype(np.uint8))


def test_random_as_a_value_of_erasing_names_noise():
    with pytest.raises(hr.GraphError, match="value is 'random'; it must be a number, .* write noise=True"):
        V.RandomErasing(1, value="random")(IMAGE)
