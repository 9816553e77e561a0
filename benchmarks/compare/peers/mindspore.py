TITLE = "MindSpore"
DISTRIBUTION = "mindspore"
REQUIREMENTS = ("mindspore==2.10.0", "numpy==1.26.4", "pillow")
DEBIAN: tuple[str, ...] = ()
MODULES = ("mindspore.dataset",)
SETUP = "RandomCropDecodeResize, which decodes only the crop; a worker per core; dictionaries of NumPy arrays without a copy"


def images(data, workers):
    import mindspore.dataset as ds
    import mindspore.dataset.vision as vision
    import work

    ds.config.set_num_parallel_workers(workers)
    dataset = ds.ImageFolderDataset(data, shuffle=True)
    dataset = dataset.map(
        [
            vision.RandomCropDecodeResize(work.SIDE, scale=work.SCALE, ratio=work.RATIO),
            vision.RandomHorizontalFlip(),
            vision.Normalize(work.MEAN, work.STD),
            vision.HWC2CHW(),
        ],
        "image",
    )
    dataset = dataset.batch(work.BATCH, drop_remainder=True)
    iterator = dataset.create_dict_iterator(num_epochs=-1, output_numpy=True, do_copy=False)
    while True:
        for row in iterator:
            yield row["image"]


def rows(count, workers):
    import mindspore
    import mindspore.dataset as ds
    import mindspore.dataset.transforms as transforms
    import numpy as np
    import work

    ds.config.set_num_parallel_workers(workers)
    dataset = ds.NumpySlicesDataset({"value": np.arange(count)}, shuffle=False)
    dataset = dataset.map(transforms.TypeCast(mindspore.float32), "value").shuffle(work.SHUFFLE_WINDOW)
    for row in dataset.batch(work.ROWS_A_BATCH).create_dict_iterator(num_epochs=1, output_numpy=True):
        yield len(row["value"])
