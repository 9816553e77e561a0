TITLE = "Headrace"
DISTRIBUTION = ""
REQUIREMENTS: tuple[str, ...] = ()
DEBIAN: tuple[str, ...] = ()
MODULES = ("headrace",)
SETUP = (
    "as the tutorial has it, antialias=False; workers left to the engine; no automatic cache "
    "(insert_caches off), as no peer has one"
)


def version():
    import headrace

    return headrace.__version__


def images(data, workers):
    import work

    import headrace as hr
    from headrace import vision as V

    dataset = (
        hr.ImageFolder(data, shuffle=True)
        .map(
            [
                V.Decode(),
                V.RandomResizedCrop(work.SIDE, antialias=False),
                V.RandomHorizontalFlip(),
                V.Normalize(work.MEAN, work.STD),
                V.HWC2CHW(),
            ],
            "image",
        )
        .repeat()
        .batch(work.BATCH)
    )
    for batch in dataset.iterate(disabled_passes=["insert_caches"]):
        yield batch["image"]


def rows(count, workers):
    import work

    import headrace as hr
    from headrace import transforms as T

    dataset = hr.Range(count).map([T.TypeCast("float32")], "value").shuffle(work.SHUFFLE_WINDOW)
    for batch in dataset.batch(work.ROWS_A_BATCH):
        yield len(batch["value"])
