TITLE = "MXNet ImageRecordIter"
DISTRIBUTION = "mxnet"
REQUIREMENTS = ("mxnet==1.9.1", "numpy==1.23.5", "opencv-python-headless==4.8.1.78")
DEBIAN: tuple[str, ...] = ()
MODULES = ("mxnet",)
SETUP = (
    "records of the original files, packed by its own im2rec; random_resized_crop; the most threads that it allows, "
    "one less than half of the cores, and at least one"
)


def prepare(folder, scratch):
    import os
    import subprocess
    import sys

    import mxnet

    program = os.path.join(os.path.dirname(mxnet.__file__), "tools", "im2rec.py")
    prefix = os.path.join(scratch, "pictures")
    for options in (["--list", "--recursive"], ["--pass-through", f"--num-thread={os.cpu_count()}"]):
        subprocess.run([sys.executable, program, *options, prefix, folder], check=True, stdout=sys.stderr)
    return prefix


def images(data, workers):
    import mxnet
    import work

    iterator = mxnet.io.ImageRecordIter(
        path_imgrec=f"{data}.rec",
        path_imgidx=f"{data}.idx",
        data_shape=(3, work.SIDE, work.SIDE),
        batch_size=work.BATCH,
        round_batch=True,
        shuffle=True,
        random_resized_crop=True,
        min_random_area=work.SCALE[0],
        max_random_area=work.SCALE[1],
        min_aspect_ratio=work.RATIO[0],
        max_aspect_ratio=work.RATIO[1],
        rand_mirror=True,
        mean_r=work.MEAN[0],
        mean_g=work.MEAN[1],
        mean_b=work.MEAN[2],
        std_r=work.STD[0],
        std_g=work.STD[1],
        std_b=work.STD[2],
        preprocess_threads=workers,
        prefetch_buffer=4,
    )
    while True:
        for batch in iterator:
            batch.data[0].wait_to_read()
            yield batch.data[0]
        iterator.reset()
