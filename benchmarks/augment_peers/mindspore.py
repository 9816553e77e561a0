TITLE = "MindSpore"
VENV = "mindspore"
REQUIREMENTS = ("mindspore==2.10.0", "numpy==1.26.4", "pillow")
DISTRIBUTIONS = ("mindspore",)
SETUP = (
    "its own kernels, a thread for each worker and operation; RandomCropDecodeResize, which decodes only the crop, or, for "
    "two views, Decode and RandomResizedCrop; RandomErasing, which it has in Python alone; dictionaries of NumPy arrays "
    "without a copy. Its transforms of PIL images call Pillow, which does antialias, as torchvision's do, and are not measured"
)
DIFFERS = {
    "jitter": "near: no antialias",
    "trivial": "near: no antialias; its translations leave 13% of all images empty",
    "simclr": "near: no antialias; RandomGrayscale is two conversions; blur of a fixed deviation, one of 20",
}


def _contrastive_view():
    import augment_recipes as recipes
    from mindspore.dataset import transforms, vision

    grey = [
        vision.ConvertColor(mode) for mode in (vision.ConvertMode.COLOR_RGB2GRAY, vision.ConvertMode.COLOR_GRAY2RGB)
    ]
    blurs = [vision.GaussianBlur(23, 0.1 * step) for step in range(1, 21)]
    return [
        vision.RandomResizedCrop(recipes.SIDE),
        vision.RandomHorizontalFlip(),
        transforms.RandomApply([vision.RandomColorAdjust(0.8, 0.8, 0.8, 0.2)], 0.8),
        transforms.RandomApply(grey, 0.2),
        transforms.RandomApply([transforms.RandomChoice(blurs)], 0.5),
        vision.ToTensor(),
    ]


def _contrastive(images):
    from mindspore.dataset import transforms, vision

    rows = images.map(vision.Decode(), "image").map(transforms.Duplicate(), "image", ["first", "second"])
    return (
        rows.map(_contrastive_view(), "first").map(_contrastive_view(), "second").project(["first", "second", "label"])
    )


def _one_view(images, recipe):
    import augment_recipes as recipes
    from mindspore.dataset import vision

    mean, std = ([255 * value for value in values] for values in (recipes.MEAN, recipes.STD))
    colours = vision.RandomColorAdjust(0.4, 0.4, 0.4, 0.1) if recipe == "jitter" else vision.TrivialAugmentWide()
    rows = images.map(
        [
            vision.RandomCropDecodeResize(recipes.SIDE),
            vision.RandomHorizontalFlip(),
            colours,
            vision.Normalize(mean, std),
            vision.HWC2CHW(),
        ],
        "image",
    )
    # Python in a map of its own leaves the others to the kernels.
    return rows.map(vision.RandomErasing(0.1), "image")


def batches(recipe, folder, workers):
    import augment_recipes as recipes
    import mindspore.dataset as ds

    ds.config.set_num_parallel_workers(workers)
    images = ds.ImageFolderDataset(folder, shuffle=True)
    rows = _contrastive(images) if recipe == "simclr" else _one_view(images, recipe)
    names = ["first", "second"] if recipe == "simclr" else ["image"]
    batched = rows.batch(recipes.BATCH, drop_remainder=True)
    iterator = batched.create_dict_iterator(num_epochs=-1, output_numpy=True, do_copy=False)
    while True:
        for batch in iterator:
            yield [batch[name] for name in names]
