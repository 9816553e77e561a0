TITLE = "NVIDIA DALI, on the CPU"
VENV = "dali"
REQUIREMENTS = ("nvidia-dali-cuda120==2.4.0", "numpy")
DISTRIBUTIONS = ("nvidia-dali-cuda120",)
SETUP = (
    "a thread for each worker, queue of 2; decoders.image_random_crop, which decodes only the crop, or, for two views, "
    "decoders.image and random_resized_crop; resize with antialias; color_twist; its trivial_augment_wide; "
    "crop_mirror_normalize flips; erase in conditionals, drawn once where torchvision draws again a box that does not fit"
)
_TWIST = "near: one linear step instead of four in random order, contrast about 128, hue approximated"
DIFFERS = {
    "jitter": _TWIST,
    "trivial": "near: equalisation as OpenCV's; sharpness at the edges, too",
    "simclr": _TWIST,
}


def _twisted(image, strength, hue):
    """Of brightness, contrast and saturation alike; `hue` is in degrees."""
    from nvidia.dali import fn

    factors = [fn.random.uniform(range=(1 - strength, 1 + strength)) for _ in range(3)]
    turned = fn.random.uniform(range=(-hue, hue))
    return fn.color_twist(image, brightness=factors[0], contrast=factors[1], saturation=factors[2], hue=turned)


def _erased(image):
    import math

    import augment_recipes as recipes
    from nvidia.dali import fn
    from nvidia.dali import math as of_batches

    area = fn.random.uniform(range=recipes.ERASED_SCALE)
    ratio = of_batches.exp(fn.random.uniform(range=[math.log(end) for end in recipes.ERASED_RATIO]))
    sides = [of_batches.min(of_batches.sqrt(of_area), 1.0) for of_area in (area * ratio, area / ratio)]
    corner = [fn.random.uniform(range=(0.0, 1.0)) * (1.0 - side) for side in sides]
    return fn.erase(
        image, anchor=fn.stack(*corner), shape=fn.stack(*sides), normalized=True, axis_names="HW", fill_value=0.0
    )


def _floats(image, mean, std):
    """Flipped in half of all cases, in planes; `mean` and `std` in the units of the pixels."""
    from nvidia.dali import fn, types

    mirror = fn.random.coin_flip()
    return fn.crop_mirror_normalize(
        image, mirror=mirror, dtype=types.FLOAT, output_layout="CHW", mean=list(mean), std=list(std)
    )


def _one_view(encoded, recipe):
    import augment_recipes as recipes
    from nvidia.dali import fn, types
    from nvidia.dali.auto_aug import trivial_augment

    image = fn.decoders.image_random_crop(
        encoded, device="cpu", output_type=types.RGB, random_area=[0.08, 1.0], random_aspect_ratio=[3 / 4, 4 / 3]
    )
    image = fn.resize(
        image, resize_x=recipes.SIDE, resize_y=recipes.SIDE, interp_type=types.INTERP_LINEAR, antialias=True
    )
    if recipe == "jitter":
        image = _twisted(image, 0.4, 36.0)
    else:
        image = trivial_augment.trivial_augment_wide(image, fill_value=0, interp_type=types.INTERP_NN)
    floats = _floats(image, *([255 * value for value in values] for values in (recipes.MEAN, recipes.STD)))
    if fn.random.coin_flip(probability=0.1, dtype=types.BOOL):
        floats = _erased(floats)
    return floats


def _contrastive_view(image):
    import augment_recipes as recipes
    from nvidia.dali import fn, types

    view = fn.random_resized_crop(
        image,
        size=recipes.SIDE,
        random_area=[0.08, 1.0],
        random_aspect_ratio=[3 / 4, 4 / 3],
        interp_type=types.INTERP_LINEAR,
        antialias=True,
    )
    if fn.random.coin_flip(probability=0.8, dtype=types.BOOL):
        view = _twisted(view, 0.8, 72.0)
    if fn.random.coin_flip(probability=0.2, dtype=types.BOOL):
        grey = fn.color_space_conversion(view, image_type=types.RGB, output_type=types.GRAY)
        view = fn.color_space_conversion(grey, image_type=types.GRAY, output_type=types.RGB)
    if fn.random.coin_flip(probability=0.5, dtype=types.BOOL):
        view = fn.gaussian_blur(view, window_size=23, sigma=fn.random.uniform(range=(0.1, 2.0)))
    return _floats(view, [0.0] * 3, [255.0] * 3)


def batches(recipe, folder, workers):
    import augment_recipes as recipes
    import numpy as np
    from nvidia.dali import fn, pipeline_def, types

    @pipeline_def(
        batch_size=recipes.BATCH, num_threads=workers, device_id=None, prefetch_queue_depth=2, enable_conditionals=True
    )
    def pipeline():
        encoded, label = fn.readers.file(file_root=folder, random_shuffle=True, name="reader")
        if recipe == "simclr":
            image = fn.decoders.image(encoded, device="cpu", output_type=types.RGB)
            return _contrastive_view(image), _contrastive_view(image), label
        return _one_view(encoded, recipe), label

    running = pipeline()
    running.build()
    while True:
        *views, _ = running.run()
        yield [np.asarray(view.as_tensor()) for view in views]
