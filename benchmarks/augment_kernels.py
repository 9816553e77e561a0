"""Single kernels beside the functions of the libraries whose definitions they follow, for augment.py: nanoseconds of CPU time a
call, on one thread, on one image. Imported by Headrace's Python and by the peer's."""

import io
import time
from collections.abc import Callable
from typing import Any

# By kernel: the library whose definition it follows.
LIBRARIES = {
    "Decode, JPEG": "Pillow",
    "Decode, PNG": "Pillow",
    "Decode, WebP": "Pillow",
    "Decode, lossless WebP": "Pillow",
    "Decode, GIF": "Pillow",
    "Decode, BMP": "Pillow",
    "Decode, grey BMP": "Pillow",
    "Decode, BMP of 32 bits": "Pillow",
    "Decode, TIFF": "Pillow",
    "Decode, TIFF of LZW": "Pillow",
    "Decode, TIFF of Deflate": "Pillow",
    "Decode, TIFF of JPEG": "Pillow",
    "JPEG": "Pillow",
    "EncodeJpeg": "Pillow",
    "EncodePng": "Pillow",
    "Resize, bilinear": "Pillow",
    "Resize, bicubic": "Pillow",
    "Resize, lanczos": "Pillow",
    "Resize, nearest": "Pillow",
    "Resize, antialias=False": "OpenCV",
    "Crop": "Pillow",
    "CenterCrop": "Pillow",
    "RandomResizedCrop": "torchvision",
    "Pad": "Pillow",
    "RandomHorizontalFlip": "Pillow",
    "RandomVerticalFlip": "Pillow",
    "Rotate, nearest": "Pillow",
    "Rotate, bilinear": "Pillow",
    "Rotate, bicubic": "Pillow",
    "Rotate, a quarter": "Pillow",
    "Rotate, two quarters": "Pillow",
    "Affine, nearest": "Pillow",
    "Affine, bilinear": "Pillow",
    "Perspective, nearest": "Pillow",
    "Perspective, bicubic": "Pillow",
    "AdjustBrightness": "Pillow",
    "AdjustContrast": "Pillow",
    "AdjustSaturation": "Pillow",
    "AdjustHue": "Pillow",
    "AdjustGamma": "Pillow",
    "AdjustSharpness": "Pillow",
    "Grayscale": "Pillow",
    "Invert": "Pillow",
    "Posterize": "Pillow",
    "Solarize": "Pillow",
    "AutoContrast": "Pillow",
    "Equalize": "Pillow",
    "ColorJitter": "torchvision",
    "AutoAugment": "torchvision",
    "RandAugment": "torchvision",
    "TrivialAugmentWide": "torchvision",
    "AugMix": "torchvision",
    "GaussianBlur": "torchvision",
    "ElasticTransform": "torchvision",
    "GaussianNoise": "torchvision",
    "RandomPhotometricDistort": "torchvision",
    "RandomErasing": "torchvision",
    "ToFloat": "torchvision",
    "Normalize": "torchvision",
    "MixUp": "torchvision",
    "CutMix": "torchvision",
}
# Calls of these differ by what they draw: a run has at least so many.
_DRAWING = {"RandomResizedCrop", "ColorJitter", "AutoAugment", "RandAugment", "TrivialAugmentWide", "AugMix"}
_LEAST_DRAWS = 100
# The formats of the rows that decode, and how Pillow writes them.
_FORMATS: dict[str, tuple[str, dict[str, Any]]] = {
    "PNG": ("PNG", {}),
    "WebP": ("WEBP", {}),
    "lossless WebP": ("WEBP", {"lossless": True}),
    "GIF": ("GIF", {}),
    "BMP": ("BMP", {}),
    "grey BMP": ("BMP", {}),
    "BMP of 32 bits": ("BMP", {}),
    "TIFF": ("TIFF", {}),
    "TIFF of LZW": ("TIFF", {"compression": "tiff_lzw"}),
    "TIFF of Deflate": ("TIFF", {"compression": "tiff_adobe_deflate"}),
    "TIFF of JPEG": ("TIFF", {"compression": "jpeg"}),
}
_JITTER = (0.4, 0.4, 0.4, 0.1)
# Left, top, right, top, … of the corners, as Perspective takes them.
_CORNERS = (0, 0, 511, 0, 511, 511, 0, 511)
_MOVED = (20, 30, 480, 10, 500, 490, 5, 470)
_ANGLE, _SHIFT, _SCALE, _SHEAR = 20, (15, 10), 1.2, (5, 0)
Calls = dict[str, Callable[[], Any]]


def _encoded(image: Any) -> dict[str, bytes]:
    """The image in each format."""
    found = {}
    modes = {"grey BMP": "L", "BMP of 32 bits": "RGBA"}
    for name, (format, options) in _FORMATS.items():
        target = io.BytesIO()
        image.convert(modes.get(name, "RGB")).save(target, format, **options)
        found[name] = target.getvalue()
    return found


def headrace_calls(path: str) -> Calls:
    import numpy as np
    from PIL import Image

    from headrace import vision as V

    with open(path, "rb") as file:
        data = file.read()
    image = V.Decode()(data)
    floats = V.ToFloat()(image)
    batch = np.repeat(floats[None, :224, :224], 32, axis=0)
    labels = np.arange(32)
    of_images = {
        "JPEG": V.JPEG(50),
        "EncodeJpeg": V.EncodeJpeg(90),
        "EncodePng": V.EncodePng(6),
        "Resize, bilinear": V.Resize((224, 224)),
        "Resize, bicubic": V.Resize((224, 224), interpolation="bicubic"),
        "Resize, lanczos": V.Resize((224, 224), interpolation="lanczos"),
        "Resize, nearest": V.Resize((224, 224), interpolation="nearest"),
        "Resize, antialias=False": V.Resize((224, 224), antialias=False),
        "Crop": V.Crop(100, 120, 224, 224),
        "CenterCrop": V.CenterCrop(224),
        "RandomResizedCrop": V.RandomResizedCrop(224),
        "Pad": V.Pad(16),
        "RandomHorizontalFlip": V.RandomHorizontalFlip(1),
        "RandomVerticalFlip": V.RandomVerticalFlip(1),
        "Rotate, nearest": V.Rotate(_ANGLE),
        "Rotate, bilinear": V.Rotate(_ANGLE, interpolation="bilinear"),
        "Rotate, bicubic": V.Rotate(_ANGLE, interpolation="bicubic"),
        "Rotate, a quarter": V.Rotate(90, expand=True),
        "Rotate, two quarters": V.Rotate(180, expand=True),
        "Affine, nearest": V.Affine(_ANGLE, _SHIFT, _SCALE, _SHEAR),
        "Affine, bilinear": V.Affine(_ANGLE, _SHIFT, _SCALE, _SHEAR, interpolation="bilinear"),
        "Perspective, nearest": V.Perspective(_CORNERS, _MOVED, interpolation="nearest"),
        "Perspective, bicubic": V.Perspective(_CORNERS, _MOVED, interpolation="bicubic"),
        "AdjustBrightness": V.AdjustBrightness(1.3),
        "AdjustContrast": V.AdjustContrast(1.3),
        "AdjustSaturation": V.AdjustSaturation(1.3),
        "AdjustHue": V.AdjustHue(0.1),
        "AdjustGamma": V.AdjustGamma(1.3),
        "AdjustSharpness": V.AdjustSharpness(1.3),
        "Grayscale": V.Grayscale(),
        "Invert": V.Invert(),
        "Posterize": V.Posterize(4),
        "Solarize": V.Solarize(128),
        "AutoContrast": V.AutoContrast(),
        "Equalize": V.Equalize(),
        "ColorJitter": V.ColorJitter(*_JITTER),
        "AutoAugment": V.AutoAugment(),
        "RandAugment": V.RandAugment(),
        "TrivialAugmentWide": V.TrivialAugmentWide(),
        "AugMix": V.AugMix(),
        "GaussianBlur": V.GaussianBlur(23, 1.5),
        "ElasticTransform": V.ElasticTransform(),
        "RandomPhotometricDistort": V.RandomPhotometricDistort(p=1),
        "ToFloat": V.ToFloat(),
    }
    of_floats = {
        "GaussianNoise": V.GaussianNoise(),
        "RandomErasing": V.RandomErasing(1),
        "Normalize": V.Normalize(0.5, 0.25),
    }
    of_batches = {"MixUp": V.MixUp(num_classes=1000), "CutMix": V.CutMix(num_classes=1000, layout="HWC")}
    decode = V.Decode()
    calls: Calls = {"Decode, JPEG": lambda: decode(data)}
    formats = _encoded(Image.fromarray(image))
    calls |= {f"Decode, {name}": lambda encoded=encoded: decode(encoded) for name, encoded in formats.items()}
    calls |= {name: lambda kernel=kernel: kernel(image) for name, kernel in of_images.items()}
    calls |= {name: lambda kernel=kernel: kernel(floats) for name, kernel in of_floats.items()}
    calls |= {name: lambda kernel=kernel: kernel(batch, labels) for name, kernel in of_batches.items()}
    return calls


def _of_pillow(path: str) -> Calls:
    from PIL import Image, ImageOps
    from torchvision.transforms import v2
    from torchvision.transforms.v2 import functional as F

    with open(path, "rb") as file:
        data = file.read()
    image = Image.open(io.BytesIO(data)).convert("RGB")

    def saved(format: str, **options: Any) -> bytes:
        target = io.BytesIO()
        image.save(target, format, **options)
        return target.getvalue()

    modes = v2.InterpolationMode
    corners, moved = ([list(points[i : i + 2]) for i in range(0, 8, 2)] for points in (_CORNERS, _MOVED))

    def decoded(encoded: bytes) -> Any:
        # Loads an image of red, green and blue once.
        return Image.open(io.BytesIO(encoded)).convert("RGB")

    formats = {f"Decode, {name}": lambda encoded=encoded: decoded(encoded) for name, encoded in _encoded(image).items()}
    augmentations = {
        "RandomResizedCrop": v2.RandomResizedCrop(224),
        "ColorJitter": v2.ColorJitter(*_JITTER),
        "AutoAugment": v2.AutoAugment(),
        "RandAugment": v2.RandAugment(),
        "TrivialAugmentWide": v2.TrivialAugmentWide(),
        "AugMix": v2.AugMix(),
    }
    drawing = {
        name: lambda augmentation=augmentation: augmentation(image) for name, augmentation in augmentations.items()
    }
    return {
        **formats,
        **drawing,
        "Decode, JPEG": lambda: Image.open(io.BytesIO(data)).load(),
        "JPEG": lambda: Image.open(io.BytesIO(saved("JPEG", quality=50))).load(),
        "EncodeJpeg": lambda: saved("JPEG", quality=90),
        "EncodePng": lambda: saved("PNG", compress_level=6),
        "Resize, bilinear": lambda: image.resize((224, 224), Image.Resampling.BILINEAR),
        "Resize, bicubic": lambda: image.resize((224, 224), Image.Resampling.BICUBIC),
        "Resize, lanczos": lambda: image.resize((224, 224), Image.Resampling.LANCZOS),
        "Resize, nearest": lambda: image.resize((224, 224), Image.Resampling.NEAREST),
        "Crop": lambda: image.crop((120, 100, 344, 324)),
        "CenterCrop": lambda: F.center_crop(image, [224, 224]),
        "Pad": lambda: ImageOps.expand(image, 16),
        "RandomHorizontalFlip": lambda: image.transpose(Image.Transpose.FLIP_LEFT_RIGHT),
        "RandomVerticalFlip": lambda: image.transpose(Image.Transpose.FLIP_TOP_BOTTOM),
        "Rotate, nearest": lambda: image.rotate(_ANGLE),
        "Rotate, bilinear": lambda: image.rotate(_ANGLE, Image.Resampling.BILINEAR),
        "Rotate, bicubic": lambda: image.rotate(_ANGLE, Image.Resampling.BICUBIC),
        "Rotate, a quarter": lambda: image.rotate(90, expand=True),
        "Rotate, two quarters": lambda: image.rotate(180, expand=True),
        "Affine, nearest": lambda: F.affine(image, _ANGLE, list(_SHIFT), _SCALE, list(_SHEAR), modes.NEAREST),
        "Affine, bilinear": lambda: F.affine(image, _ANGLE, list(_SHIFT), _SCALE, list(_SHEAR), modes.BILINEAR),
        "Perspective, nearest": lambda: F.perspective(image, corners, moved, modes.NEAREST),
        "Perspective, bicubic": lambda: F.perspective(image, corners, moved, modes.BICUBIC),
        "AdjustBrightness": lambda: F.adjust_brightness(image, 1.3),
        "AdjustContrast": lambda: F.adjust_contrast(image, 1.3),
        "AdjustSaturation": lambda: F.adjust_saturation(image, 1.3),
        "AdjustHue": lambda: F.adjust_hue(image, 0.1),
        "AdjustGamma": lambda: F.adjust_gamma(image, 1.3),
        "AdjustSharpness": lambda: F.adjust_sharpness(image, 1.3),
        "Grayscale": lambda: image.convert("L"),
        "Invert": lambda: ImageOps.invert(image),
        "Posterize": lambda: ImageOps.posterize(image, 4),
        "Solarize": lambda: ImageOps.solarize(image, 128),
        "AutoContrast": lambda: ImageOps.autocontrast(image),
        "Equalize": lambda: ImageOps.equalize(image),
    }


def peer_calls(path: str) -> Calls:
    import cv2
    import numpy as np
    import torch
    from PIL import Image
    from torchvision.transforms import v2
    from torchvision.transforms.v2 import functional as F

    cv2.setNumThreads(1)
    torch.set_num_threads(1)
    array = np.asarray(Image.open(path).convert("RGB"))
    tensor = torch.from_numpy(array.transpose(2, 0, 1).copy())
    floats = F.to_dtype(tensor, torch.float32, scale=True)
    batch, labels = floats[None, :, :224, :224].repeat(32, 1, 1, 1), torch.arange(32)
    distort, erase, elastic, noise = (
        v2.RandomPhotometricDistort(p=1), v2.RandomErasing(1), v2.ElasticTransform(), v2.GaussianNoise(),
    )  # fmt: skip
    mix, cut = v2.MixUp(num_classes=1000), v2.CutMix(num_classes=1000)
    return _of_pillow(path) | {
        "Resize, antialias=False": lambda: cv2.resize(array, (224, 224), interpolation=cv2.INTER_LINEAR),
        "GaussianBlur": lambda: F.gaussian_blur(tensor, [23, 23], [1.5, 1.5]),
        "ElasticTransform": lambda: elastic(tensor),
        "GaussianNoise": lambda: noise(floats),
        "RandomPhotometricDistort": lambda: distort(tensor),
        "RandomErasing": lambda: erase(floats),
        "ToFloat": lambda: F.to_dtype(tensor, torch.float32, scale=True),
        "Normalize": lambda: F.normalize(floats, [0.5] * 3, [0.25] * 3),
        "MixUp": lambda: mix(batch, labels),
        "CutMix": lambda: cut(batch, labels),
    }


def nanoseconds(calls: Calls, seconds: float) -> dict[str, float]:
    """Of CPU time for a call of each: the least mean of runs of about 10 ms, over `seconds`."""
    found = {}
    for name, call in calls.items():
        call()
        started = time.process_time()
        call()
        repeats = max(1, int(0.01 / max(1e-6, time.process_time() - started)))
        if name in _DRAWING and seconds > 0:
            repeats = max(repeats, _LEAST_DRAWS)
        best = float("inf")
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            started = time.process_time()
            for _ in range(repeats):
                call()
            best = min(best, (time.process_time() - started) / repeats)
        found[name] = best * 1e9
    return found
