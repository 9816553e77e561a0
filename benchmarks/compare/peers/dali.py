TITLE = "NVIDIA DALI, on the CPU"
DISTRIBUTION = "nvidia-dali-cuda120"
REQUIREMENTS = ("nvidia-dali-cuda120==2.4.0", "numpy")
DEBIAN: tuple[str, ...] = ()
MODULES = ("nvidia.dali",)
SETUP = (
    "decoders.image_random_crop, which decodes only the crop; crop_mirror_normalize; a thread per core, queue of 2. "
    "Its rows come from a Python callback for each and are not shuffled"
)


def images(data, workers):
    import numpy as np
    import work
    from nvidia.dali import fn, pipeline_def, types

    @pipeline_def(batch_size=work.BATCH, num_threads=workers, device_id=None, prefetch_queue_depth=2)
    def pipeline():
        encoded, _ = fn.readers.file(file_root=data, random_shuffle=True, name="reader")
        image = fn.decoders.image_random_crop(
            encoded,
            device="cpu",
            output_type=types.RGB,
            random_area=work.SCALE,
            random_aspect_ratio=work.RATIO,
            num_attempts=10,
        )
        image = fn.resize(
            image, resize_x=work.SIDE, resize_y=work.SIDE, interp_type=types.INTERP_LINEAR, antialias=False
        )
        return fn.crop_mirror_normalize(
            image,
            mirror=fn.random.coin_flip(),
            dtype=types.FLOAT,
            output_layout="CHW",
            mean=work.MEAN,
            std=work.STD,
        )

    running = pipeline()
    running.build()
    while True:
        (batch,) = running.run()
        yield np.asarray(batch.as_tensor())


def rows(count, workers):
    import numpy as np
    import work
    from nvidia.dali import fn, pipeline_def, types

    def number(sample):
        return np.array(sample.idx_in_epoch)

    @pipeline_def(batch_size=work.ROWS_A_BATCH, num_threads=workers, device_id=None, prefetch_queue_depth=2)
    def pipeline():
        return fn.cast(fn.external_source(source=number, batch=False), dtype=types.FLOAT)

    running = pipeline()
    running.build()
    left = count
    while left > 0:
        (batch,) = running.run()
        yield min(left, len(batch))
        left -= len(batch)
