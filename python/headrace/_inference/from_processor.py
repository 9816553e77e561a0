"""`from_processor` makes an inference graph of the config with which another library prepares images."""

from typing import Any

from headrace._inference import processors
from headrace._inference.inference_graph import InferenceGraph

__all__ = ["from_processor"]


def from_processor(config: Any, **changes: Any) -> InferenceGraph:
    """The inference graph that prepares an image as another library's config says: Hugging Face's, timm's or torchvision's.

    It takes the bytes of a picture and gives what the model takes, float32 of shape (channels, height, width) as a rule.
    Pixels are those of Pillow, as with the classes of transformers whose names end in `Pil`, with timm and with
    torchvision's transforms of Pillow's images. The library itself is not needed, unless the config is an object of it.

    Raises UnsupportedError, which names the field and its value, for what no graph of one image does, such as cutting it
    into tiles or padding it to the largest of a batch, and for fields and classes that are not known; GraphError for a
    field whose value is not of its kind.

    Args:
        config: The path of a `preprocessor_config.json`, a `processor_config.json` or timm's `config.json`, or of the
            folder that holds one; its contents as a dict; an image processor; a `pretrained_cfg` of timm; weights of
            torchvision or what their `transforms()` gives.
        changes: Fields that differ from the config, such as `do_pad=False` or, for timm, `use_test_size=True`.

    Example:
        hr.from_processor({"image_processor_type": "ViTImageProcessor", "size": 384})
    """
    return InferenceGraph(processors.kernels_of(config, **changes), inputs={"image": "bytes"})
