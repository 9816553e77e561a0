"""Configs of other libraries' image processors: what becomes of each, and which fields are refused, by name."""

import functools
import io
import json
import os
import types

import numpy as np
import pytest
from processor_references import (
    ANSWERS,
    HUGGING_FACE,
    PHOTOS,
    TIMM,
    TORCHVISION,
    answer,
    configs,
    hugging_face,
    timm,
    torchvision_transforms,
)

import headrace as hr
from headrace import vision as V
from headrace._inference.processors import kernels_of

KNOWN = json.loads(ANSWERS.read_text())
CONFIGS = configs()
IMAGENET = {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}
VIT = {"image_processor_type": "ViTImageProcessor"}


def preset(name, **attributes):
    """An object like one of torchvision's."""
    kind = type(name, (), {"__module__": "torchvision.transforms._presets"})
    made = kind()
    vars(made).update(attributes)
    return made


def weights_preset(name):
    kind, attributes = TORCHVISION[name]
    return preset(kind, **({**IMAGENET, "interpolation": "bilinear", **attributes} if attributes else {}))


def tolerance(name):
    # DINOv3's class resizes floats by PyTorch, whose sums are of float32.
    return 1e-4 if name.startswith("DINOv3") else 1e-6


def texts(kernels):
    return [repr(each) for each in kernels]


@pytest.mark.parametrize("name", KNOWN)
def test_values_are_those_of_the_library(photos, name):
    graph = hr.compose(kernels_of(CONFIGS[name] if name in CONFIGS else weights_preset(name)))
    for photo in PHOTOS:
        made = answer(graph((photos / photo).read_bytes()))
        assert made["shape"] == KNOWN[name][photo]["shape"]
        np.testing.assert_allclose(made["values"], KNOWN[name][photo]["values"], rtol=0, atol=tolerance(name))


def test_all_configs_have_answers():
    assert KNOWN.keys() == {*CONFIGS, *TORCHVISION}


def compare(graph, reference, photos, most):
    import PIL.Image

    compared = 0
    for path in sorted(photos.glob("*/*.jpg")):
        made = graph(path.read_bytes())
        expected = np.asarray(reference(PIL.Image.open(io.BytesIO(path.read_bytes())).convert("RGB")))
        assert made.shape == expected.shape
        assert made.dtype == expected.dtype
        np.testing.assert_allclose(made, expected, rtol=0, atol=most)
        compared += 1
    assert compared == 12


@pytest.mark.torch
@pytest.mark.parametrize(
    ("family", "module", "fields"), [(*key, fields) for key, each in HUGGING_FACE.items() for fields in each]
)
def test_all_photos_equal_those_of_transformers(photos, family, module, fields):
    pytest.importorskip("transformers")
    if family == "DINOv3ViT":
        pytest.importorskip("torchvision")  # Its only class uses it.
    config = {"image_processor_type": f"{family}ImageProcessor", **fields}
    compare(hr.compose(kernels_of(config)), hugging_face(family, module, fields), photos, tolerance(family))


@pytest.mark.torch
@pytest.mark.parametrize("fields", TIMM)
def test_all_photos_equal_those_of_timm(photos, fields):
    pytest.importorskip("timm")
    compare(hr.compose(kernels_of(fields)), timm(fields), photos, 1e-6)


@pytest.mark.torch
@pytest.mark.parametrize("name", TORCHVISION)
def test_all_photos_equal_those_of_torchvision(photos, name):
    pytest.importorskip("torchvision")
    transforms = torchvision_transforms(name)
    compare(hr.compose(kernels_of(transforms)), lambda picture: transforms(picture).numpy(), photos, 1e-6)


@pytest.mark.torch
def test_objects_of_transformers_are_configs():
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("torchvision")
    processor = transformers.CLIPImageProcessor(size=240)
    fields = {"image_processor_type": "CLIPImageProcessor", "size": 240}
    assert texts(kernels_of(processor)) == texts(kernels_of(fields))


@pytest.mark.torch
def test_pretrained_configs_of_timm_are_configs():
    library = pytest.importorskip("timm")
    config = library.models.get_pretrained_cfg("resnet50.a1_in1k")
    fields = config.to_dict()
    assert texts(kernels_of(config)) == texts(kernels_of({"architecture": "resnet50", "pretrained_cfg": fields}))


@pytest.mark.torch
def test_compositions_of_torchvision_are_configs(photos):
    pytest.importorskip("torchvision")
    import torch
    from torchvision import transforms as v1
    from torchvision.transforms import v2

    for composed in (
        v1.Compose([v1.Resize(256), v1.CenterCrop(224), v1.ToTensor(), v1.Normalize([0.5], [0.5])]),
        v1.Compose([v1.Resize(100, max_size=130), v1.PILToTensor()]),
        v2.Compose(
            [
                v2.Resize((200, 220), interpolation=3),
                v2.ToImage(),
                v2.CenterCrop([301, 224]),
                v2.Compose([v2.ToDtype(torch.float32, scale=True)]),
                v2.Normalize([0.4, 0.5, 0.6], [0.2, 0.3, 0.4]),
            ]
        ),
    ):
        compare(hr.compose(kernels_of(composed)), composed, photos, 1e-6)


def test_the_graph_is_that_of_the_kernels(photos):
    data = (photos / PHOTOS[0]).read_bytes()
    graph = hr.from_processor(VIT, size=99)
    np.testing.assert_array_equal(graph(data), hr.compose(kernels_of({**VIT, "size": 99}))(data))
    assert hr.from_processor({**VIT, "size": {"height": 99, "width": 99}}).hash == graph.hash


def test_a_config_becomes_few_kernels():
    fields = {"image_processor_type": "CLIPImageProcessor", "size": 240, "image_mean": [0.485, 0.456, 0.406]}
    assert texts(kernels_of({**fields, "image_std": [0.229, 0.224, 0.225]})) == texts(
        [
            V.Decode(),
            V.Resize(240, "bicubic"),
            V.CenterCrop((224, 224), "down"),
            V.Normalize([123.675, 116.28, 103.53], [58.395, 57.12, 57.375]),
            V.HWC2CHW(),
        ]
    )
    assert texts(kernels_of({**VIT, "do_normalize": False, "do_resize": False})) == texts(
        [V.Decode(), V.Rescale(1 / 255), V.HWC2CHW()]
    )


def test_configs_of_years_ago_mean_what_they_meant():
    old = {
        "feature_extractor_type": "ConvNextFeatureExtractor",
        "crop_pct": 0.875,
        "do_normalize": True,
        "do_resize": True,
        "resample": 3,
        "size": 224,
    }
    new = {"image_processor_type": "ConvNextImageProcessor", "size": {"shortest_edge": 224}}
    assert texts(kernels_of(old)) == texts(kernels_of(new))
    detr = {"feature_extractor_type": "DetrFeatureExtractor", "size": 700, "max_size": 900, "format": "coco_detection"}
    assert texts(kernels_of(detr, do_pad=False))[1] == repr(V.ResizeToEdges(700, 900, "bilinear"))
    fast = {"image_processor_type": "ViTImageProcessorFast", "data_format": "channels_first", "crop_size": None}
    assert texts(kernels_of(fast)) == texts(kernels_of(VIT))
    # Without a class, by the model.
    assert texts(kernels_of({"do_resize": True, "size": 256, "model_type": "swinv2"})) == texts(
        kernels_of({**VIT, "size": 256})
    )


def test_files_and_folders_hold_configs(tmp_path):
    def written(name, config):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(config))
        return path

    file = written("a/preprocessor_config.json", VIT)
    expected = texts(kernels_of(VIT))
    for given in (file, str(file), os.fsencode(file), file.parent, written("b/any.json", VIT)):
        assert texts(kernels_of(given)) == expected
    written("c/processor_config.json", {"image_processor": VIT, "processor_class": "CLIPProcessor"})
    assert texts(kernels_of(tmp_path / "c")) == expected
    resnet = {"input_size": [3, 224, 224], "crop_pct": 0.95, "test_input_size": [3, 288, 288], "test_crop_pct": 1.0}
    written("d/config.json", {"architecture": "resnet50", "num_classes": 1000, "pretrained_cfg": resnet})
    assert texts(kernels_of(tmp_path / "d"))[1] == repr(V.Resize(235, "bicubic"))
    assert texts(kernels_of(tmp_path / "d", use_test_size=True))[1] == repr(V.Resize(288, "bicubic"))
    # The class is that of the model beside.
    written("e/config.json", {"model_type": "vit", "patch_size": 16})
    for given in (written("e/preprocessor_config.json", {"do_resize": True, "size": 224}), tmp_path / "e"):
        assert texts(kernels_of(given)) == expected


def test_objects_hold_configs():
    processor = types.SimpleNamespace(to_dict=lambda: {**VIT, "size": 99})
    expected = texts(kernels_of({**VIT, "size": 99}))
    assert texts(kernels_of(processor)) == expected
    assert texts(kernels_of(types.SimpleNamespace(image_processor=processor))) == expected
    model = types.SimpleNamespace(pretrained_cfg={"input_size": (3, 224, 224)})
    wrapper = {"image_processor_type": "TimmWrapperImageProcessor", "data_config": {"input_size": (3, 224, 224)}}
    assert texts(kernels_of(model)) == texts(kernels_of({"input_size": [3, 224, 224]})) == texts(kernels_of(wrapper))
    name = "ResNet50_Weights.IMAGENET1K_V2"
    weights = preset("ResNet50_Weights", transforms=lambda: weights_preset(name))
    assert texts(kernels_of(weights)) == texts(kernels_of(weights_preset(name)))
    assert texts(kernels_of(functools.partial(type(preset("ObjectDetection"))))) == texts(
        kernels_of(preset("ObjectDetection"))
    )


REFUSED = {
    "padding of batches": ({"image_processor_type": "DetrImageProcessor"}, "do_pad is True: padding of whole batches"),
    "padding with a mask": (
        {"image_processor_type": "DetrImageProcessor", "pad_size": {"height": 900, "width": 900}},
        "pad_size is {'height': 900, 'width': 900}: padding also gives a pixel_mask",
    ),
    "padding of others": ({**VIT, "do_pad": True}, "do_pad is True: padding of whole batches"),
    "qwen": (
        {"image_processor_type": "Qwen2VLImageProcessor", "min_pixels": 3136, "patch_size": 14},
        "patch_size is 14: it cuts an image into tiles",
    ),
    "llava": (
        {"image_processor_type": "LlavaNextImageProcessor", "image_grid_pinpoints": [[336, 672]]},
        "image_grid_pinpoints is [[336, 672]]: it cuts an image into tiles",
    ),
    "idefics": (
        {"image_processor_type": "Idefics3ImageProcessor", "do_image_splitting": True},
        "do_image_splitting is True: it cuts an image into tiles",
    ),
    "pixtral": (
        {"image_processor_type": "PixtralImageProcessor", "patch_size": {"height": 16, "width": 16}},
        "patch_size is {'height': 16, 'width': 16}: it cuts an image into tiles",
    ),
    "another class": ({"image_processor_type": "SamImageProcessor", "do_pad": False}, "image_processor_type is 'Sam"),
    "no class": ({"do_resize": True, "size": 224}, "image_processor_type is None"),
    "another library": ({"size": 224}, "neither image_processor_type"),
    "nothing": ({}, "its fields are none"),
    "a name that is a number": ({**VIT, 3: True}, "3 is True: this field is not known here"),
    "an unknown field": ({**VIT, "do_centre_crop": True}, "do_centre_crop is True: this field is not known here"),
    "a field of another family": ({**VIT, "crop_pct": 0.9}, "crop_pct is 0.9: this field is not known here"),
    "hamming": ({**VIT, "resample": 5}, "resample is 5: images are resized by"),
    "a longest edge": ({**VIT, "size": {"longest_edge": 99}}, "size is {'longest_edge': 99}: it must have"),
    "a limit of both": (
        {**VIT, "size": {"max_height": 9, "max_width": 9}},
        "size is {'max_height': 9, 'max_width': 9}: it must have",
    ),
    "channels last": ({**VIT, "data_format": "channels_last"}, "data_format is 'channels_last': results have"),
    "two channels": ({**VIT, "image_mean": [0.5, 0.5]}, "image_mean is [0.5, 0.5]: images have 3 channels"),
    "a half of multiples": (
        {"image_processor_type": "DPTImageProcessor", "size": 144, "ensure_multiple_of": 32},
        "ensure_multiple_of is 32: (144, 144) lie in the middle",
    ),
    "padding on all sides": (
        {"image_processor_type": "DPTImageProcessor", "do_pad": True, "size_divisor": 14},
        "size_divisor is 14: with do_pad",
    ),
    "no shortest edge": (
        {"image_processor_type": "ConvNextImageProcessor", "size": {"height": 9, "width": 9}},
        "size is {'height': 9, 'width': 9}: it must have shortest_edge",
    ),
    "a grey model": ({"input_size": [1, 28, 28]}, "input_size is [1, 28, 28]: images are decoded to 3 channels"),
    "a border that is cut": (
        {"input_size": [3, 9, 9], "crop_mode": "border", "crop_pct": 0.9},
        "crop_mode is 'border': with crop_pct 0.9",
    ),
    "another crop": ({"input_size": [3, 9, 9], "crop_mode": "corner"}, "crop_mode is 'corner': it must be"),
    "random interpolation": ({"input_size": [3, 9, 9], "interpolation": "random"}, "interpolation is 'random'"),
    "a field that timm lacks": ({"input_size": [3, 9, 9], "gamma": 2.2}, "gamma is 2.2: this field is not known here"),
    "video": (preset("VideoClassification"), "VideoClassification"),
    "a chain of nothing": (preset("Compose", transforms=[]), "add ToTensor()"),
    "a chain without a tensor": (preset("Compose", transforms=[preset("Identity")]), "add ToTensor()"),
    "resizing of tensors": (
        preset("Compose", transforms=[preset("ToTensor"), preset("Resize", size=[9])]),
        "Resize to [9] comes after the image has become a tensor",
    ),
    "bytes that are normalized": (
        preset("Compose", transforms=[preset("PILToTensor"), preset("Normalize", mean=[0.5], std=[0.5])]),
        "Normalize comes before",
    ),
    "half floats": (
        preset("Compose", transforms=[preset("PILToTensor"), preset("ConvertImageDtype", dtype="torch.float16")]),
        "dtype is 'torch.float16'",
    ),
    "a user transform": (preset("Compose", transforms=[object()]), "is not one of CenterCrop"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_no_graph_does_is_refused_by_name(case):
    config, message = REFUSED[case]
    with pytest.raises(hr.UnsupportedError) as raised:
        kernels_of(config)
    assert str(raised.value).startswith("from_processor: ")
    assert message in str(raised.value)


WRONG = {
    "a flag": ({**VIT, "do_resize": "yes"}, "do_resize is 'yes'; it must be True or False"),
    "a size": ({**VIT, "size": 0}, "size['height'] is 0; it must be at least 1"),
    "a large size": ({**VIT, "size": 1 << 20}, "size['height'] is 1048576; it must be at most 65,535"),
    "a deviation": ({**VIT, "image_std": [0.5, 0.0, 0.5]}, "image_std is [0.5, 0.0, 0.5]; it must be numbers above 0"),
    "a mean": ({**VIT, "image_mean": [0.5, None, 0.5]}, "image_mean is [0.5, None, 0.5]; it must be finite numbers"),
    "a factor": ({**VIT, "rescale_factor": float("nan")}, "rescale_factor is nan; it must be a finite number"),
    "a crop": ({"input_size": [3, 9, 9], "crop_pct": -1}, "crop_pct is -1.0; it must be above 0"),
    "a tiny crop": ({"input_size": [3, 9, 9], "crop_pct": 1e-9}, "it must be at most 65,535"),
    "a number": (7, "7 is not a config"),
    "an endless factor": ({**VIT, "rescale_factor": 10**400}, "it must be a finite number"),
    "an endless mean": ({**VIT, "image_mean": 10**400}, "it must be finite numbers"),
    "a crop of next to nothing": ({"input_size": [3, 9, 9], "crop_pct": 5e-324}, "it must be at most 65,535"),
    "nothing": (None, "None is not a config"),
}


@pytest.mark.parametrize("case", WRONG)
def test_values_of_another_kind_are_named(case):
    config, message = WRONG[case]
    with pytest.raises(hr.GraphError) as raised:
        kernels_of(config)
    assert message in str(raised.value)


def test_a_composition_that_holds_itself_ends():
    composed = preset("Compose", transforms=[])
    composed.transforms.append(composed)
    with pytest.raises(hr.UnsupportedError, match="does a Compose hold itself"):
        kernels_of(composed)


def test_changes_need_fields():
    with pytest.raises(hr.GraphError, match="size given beside"):
        kernels_of(preset("ObjectDetection"), size=224)


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"{", "is not JSON"), (b"\xff\xfe", "is not JSON"), (b"[1]", "holds a list"), (b"[" * 100_000, "is not JSON")],
)
def test_damaged_files_are_named(tmp_path, data, message):
    path = tmp_path / "preprocessor_config.json"
    path.write_bytes(data)
    with pytest.raises(hr.DataError, match=message) as raised:
        kernels_of(path)
    assert str(path) in str(raised.value)


def test_missing_and_large_files_are_named(tmp_path):
    with pytest.raises(hr.NotFoundError, match="holds none of preprocessor_config.json"):
        kernels_of(tmp_path)
    with pytest.raises(hr.NotFoundError, match="cannot read .*missing.json"):
        kernels_of(tmp_path / "missing.json")
    large = tmp_path / "large.json"
    with large.open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(hr.DataError, match="1,073,741,824 bytes"):
        kernels_of(large)
