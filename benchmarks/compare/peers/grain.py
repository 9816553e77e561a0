TITLE = "Grain"
DISTRIBUTION = "grain"
REQUIREMENTS = ("grain==0.2.18", "numpy", "opencv-python-headless==5.0.0.93")
DEBIAN: tuple[str, ...] = ()
MODULES = ("grain",)
SETUP = "its default number of threads; OpenCV with one thread per call for decoding and resizing, which releases Python's lock; NumPy for the rest"


def images(data, workers):
    import random

    import cv2
    import grain
    import numpy as np
    import work

    cv2.setNumThreads(0)
    mean = np.array(work.MEAN, np.float32)
    factor = 1 / np.array(work.STD, np.float32)

    def one(path):
        image = cv2.imread(path, cv2.IMREAD_COLOR)
        x, y, w, h = work.crop_box(image.shape[1], image.shape[0])
        image = cv2.resize(image[y : y + h, x : x + w], (work.SIDE, work.SIDE), interpolation=cv2.INTER_LINEAR)
        if random.random() < 0.5:
            image = image[:, ::-1]
        pixels = np.subtract(image[..., ::-1], mean, dtype=np.float32)
        pixels *= factor
        return np.ascontiguousarray(pixels.transpose(2, 0, 1))

    dataset = grain.MapDataset.source(work.images(data)).seed(0).shuffle().repeat().map(one)
    yield from dataset.to_iter_dataset().batch(work.BATCH, drop_remainder=True)


def rows(count, workers):
    import grain
    import numpy as np
    import work

    dataset = grain.MapDataset.range(count).seed(0).shuffle().map(np.float32).batch(work.ROWS_A_BATCH)
    for batch in dataset.to_iter_dataset():
        yield len(batch)
