TITLE = "SPDL"
DISTRIBUTION = "spdl"
REQUIREMENTS = ("spdl==0.8.0", "numpy")
DEBIAN = ("libavdevice59",)
MODULES = ("spdl.io", "spdl.pipeline")
SETUP = (
    "decoded, cropped, resized (bilinear) and flipped by FFmpeg; normalised by NumPy one batch at a time, "
    "because it leaves that to the GPU; as many concurrent decodes as cores. Its rows are not shuffled"
)


def images(data, workers):
    import random

    import numpy as np
    import spdl.io
    import work
    from spdl.pipeline import PipelineBuilder

    mean = np.array(work.MEAN, np.float32)
    factor = 1 / np.array(work.STD, np.float32)

    def source():
        files = work.images(data)
        while True:
            random.shuffle(files)
            yield from files

    def decode(path):
        packets = spdl.io.demux_image(path)
        x, y, w, h = work.crop_box(packets.width, packets.height)
        flip = "hflip," if random.random() < 0.5 else ""
        chain = f"crop=w={w}:h={h}:x={x}:y={y},scale={work.SIDE}:{work.SIDE}:flags=bilinear,{flip}format=pix_fmts=rgb24"
        return spdl.io.decode_packets(packets, filter_desc=chain)

    def collate(frames):
        pixels = spdl.io.to_numpy(spdl.io.convert_frames(frames))
        batch = np.subtract(pixels.transpose(0, 3, 1, 2), mean[:, None, None], dtype=np.float32, order="C")
        batch *= factor[:, None, None]
        return batch

    pipeline = (
        PipelineBuilder()
        .add_source(source())
        .pipe(decode, concurrency=workers)
        .aggregate(work.BATCH)
        .pipe(collate, concurrency=1)
        .add_sink(4)
        .build(num_threads=workers + 1)
    )
    with pipeline.auto_stop():
        yield from pipeline.get_iterator()


def rows(count, workers):
    import work
    from spdl.pipeline import PipelineBuilder

    pipeline = (
        PipelineBuilder()
        .add_source(range(count))
        .pipe(float, concurrency=workers)
        .aggregate(work.ROWS_A_BATCH)
        .add_sink(4)
        .build(num_threads=workers)
    )
    with pipeline.auto_stop():
        for batch in pipeline.get_iterator():
            yield len(batch)
