TITLE = "FFCV"
DISTRIBUTION = "ffcv"
REQUIREMENTS = ("torch==2.13.0", "numpy", "pillow", "setuptools", "ffcv==1.0.2")
DEBIAN = ("pkg-config", "libturbojpeg0-dev", "libopencv-dev")
MODULES = ("ffcv.loader",)
SETUP = (
    "its own file, in which every image is re-encoded as JPEG of quality 90; RandomResizedCropRGBImageDecoder; "
    "a thread per core, the file in memory. Its first batch compiles the pipeline"
)


class Images:
    def __init__(self, files):
        self.files = files

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        from PIL import Image

        with Image.open(self.files[index]) as image:
            return (image.convert("RGB"),)


def prepare(folder, scratch):
    import os

    import work
    from ffcv.fields import RGBImageField
    from ffcv.writer import DatasetWriter

    path = os.path.join(scratch, "images.beton")
    field = RGBImageField(write_mode="jpg", jpeg_quality=90)
    writer = DatasetWriter(path, {"image": field}, num_workers=os.cpu_count())
    writer.from_indexed_dataset(Images(work.images(folder)))
    return path


def images(data, workers):
    import numpy as np
    import work
    from ffcv.fields.rgb_image import RandomResizedCropRGBImageDecoder
    from ffcv.loader import Loader, OrderOption
    from ffcv.transforms import NormalizeImage, RandomHorizontalFlip, ToTensor, ToTorchImage

    loader = Loader(
        data,
        batch_size=work.BATCH,
        num_workers=workers,
        order=OrderOption.RANDOM,
        os_cache=True,
        drop_last=True,
        pipelines={
            "image": [
                RandomResizedCropRGBImageDecoder((work.SIDE, work.SIDE), scale=work.SCALE, ratio=work.RATIO),
                RandomHorizontalFlip(),
                NormalizeImage(np.array(work.MEAN), np.array(work.STD), np.float32),
                ToTensor(),
                ToTorchImage(channels_last=False, convert_back_int16=False),
            ]
        },
    )
    while True:
        for (batch,) in loader:
            yield batch
