TITLE = "tf.data"
DISTRIBUTION = "tensorflow-cpu"
REQUIREMENTS = ("tensorflow-cpu==2.21.0",)
DEBIAN: tuple[str, ...] = ()
MODULES = ("tensorflow",)
SETUP = (
    "AUTOTUNE for map, batch and prefetch; decode_and_crop_jpeg, which decodes only the crop; bilinear without a filter"
)


def images(data, workers):
    import tensorflow as tf
    import work

    def one(path):
        content = tf.io.read_file(path)
        begin, size, _ = tf.image.sample_distorted_bounding_box(
            tf.image.extract_jpeg_shape(content),
            bounding_boxes=tf.zeros([1, 0, 4]),
            aspect_ratio_range=work.RATIO,
            area_range=work.SCALE,
            max_attempts=10,
            use_image_if_no_bounding_boxes=True,
        )
        window = tf.concat([begin[:2], size[:2]], 0)
        image = tf.image.decode_and_crop_jpeg(content, window, channels=3)
        image = tf.image.resize(image, [work.SIDE, work.SIDE])
        image = tf.image.random_flip_left_right(image)
        image = (image - work.MEAN) / work.STD
        return tf.transpose(image, [2, 0, 1])

    files = work.images(data)
    dataset = tf.data.Dataset.from_tensor_slices(files).shuffle(len(files)).repeat()
    dataset = dataset.map(one, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)
    dataset = dataset.batch(work.BATCH, drop_remainder=True, num_parallel_calls=tf.data.AUTOTUNE)
    yield from dataset.prefetch(tf.data.AUTOTUNE)


def rows(count, workers):
    import tensorflow as tf
    import work

    dataset = tf.data.Dataset.range(count).map(
        lambda value: tf.cast(value, tf.float32), num_parallel_calls=tf.data.AUTOTUNE
    )
    dataset = dataset.shuffle(work.SHUFFLE_WINDOW).batch(work.ROWS_A_BATCH).prefetch(tf.data.AUTOTUNE)
    for batch in dataset:
        yield int(batch.shape[0])
