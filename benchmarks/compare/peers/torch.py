TITLE = "PyTorch DataLoader"
DISTRIBUTION = "torch"
REQUIREMENTS = ("torch==2.13.0", "torchvision==0.28.0", "pillow", "numpy")
DEBIAN: tuple[str, ...] = ()
MODULES = ("torch",)
SETUP = (
    "a process per core, kept over epochs, prefetch_factor=4; Pillow and torchvision.transforms, "
    "which always filter when they make an image smaller"
)


_kept = []


def transforms():
    import torch

    if not _kept:
        # The wheel's own operators need CUDA's libraries to load; the transforms use none of them.
        library = torch.library.Library("torchvision", "FRAGMENT")
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        _kept.append(library)
    import torchvision.transforms

    return torchvision.transforms


class Images:
    """A map-style dataset."""

    def __init__(self, files):
        import work

        T = transforms()
        self.files = files
        self.transform = T.Compose(
            [
                T.RandomResizedCrop(work.SIDE),
                T.RandomHorizontalFlip(),
                T.PILToTensor(),
                T.Lambda(to_float),
                T.Normalize(work.MEAN, work.STD, inplace=True),
            ]
        )

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        from PIL import Image

        with Image.open(self.files[index]) as image:
            return self.transform(image.convert("RGB"))


def to_float(tensor):
    return tensor.float()


class Numbers:
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return float(index)


def images(data, workers):
    import torch.utils.data
    import work

    loader = torch.utils.data.DataLoader(
        Images(work.images(data)),
        batch_size=work.BATCH,
        shuffle=True,
        drop_last=True,
        num_workers=workers,
        persistent_workers=True,
        prefetch_factor=4,
    )
    while True:
        yield from loader


def rows(count, workers):
    import torch.utils.data
    import work

    loader = torch.utils.data.DataLoader(
        Numbers(count), batch_size=work.ROWS_A_BATCH, shuffle=True, num_workers=workers, prefetch_factor=4
    )
    for batch in loader:
        yield len(batch)
