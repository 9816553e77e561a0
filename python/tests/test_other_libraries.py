"""Mistakes that users of other libraries make at first: each is answered by what to write here."""

import abc
import enum
import functools
import inspect
import json
import pathlib
import pickle
import re
import shutil
from typing import Literal, get_args, get_type_hints

import numpy as np
import pytest
from conftest import run_python, values

import headrace as hr
from headrace import _engine
from headrace import transforms as T
from headrace import vision as V
from headrace._arguments import augmentation_names, other_libraries, table_names
from headrace._runs.run_options import RunParameters
from headrace.torch import Loader
from tests.front import front_of

IMAGES = np.zeros((3, 8, 8, 3), np.uint8)


@pytest.mark.parametrize("name", sorted(other_libraries._METHODS))
def test_a_method_of_another_library_names_ours(name):
    with pytest.raises(AttributeError, match=f"a Dataset has no {name}; (write|leave it out|iterate)"):
        getattr(hr.Range(3), name)


def test_a_method_of_no_library_is_just_unknown():
    dataset = hr.Range(3)
    with pytest.raises(
        AttributeError, match=r'a Dataset has no fetch; if it is a column, each row has it: row\["fetch"\]$'
    ):
        dataset.fetch  # noqa: B018
    assert not hasattr(dataset, "prefetch")
    assert getattr(dataset, "prefetch", None) is None


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        (lambda ds: ds.map(abs, "value", num_parallel_calls=4), r"num_parallel_calls; .*map\(…, workers=…\)"),
        (lambda ds: ds.shuffle(buffer_size=4), r"shuffle\(\) has no parameter buffer_size; .*shuffle\(window=…\)"),
        (lambda ds: ds.batch(batch_size=4), r"batch\(size=…\)"),
        (lambda ds: ds.batch(4, drop_last=True), "drop_remainder=True"),
        (lambda ds: ds.iterate(num_workers=4), r"iterate\(\) has no parameter num_workers; .*iterate\(workers=…\)"),
        (
            lambda ds: ds.batch(4, processes=2),
            r"map\(function, columns, processes=…\), hr\.from_dataset\(dataset, processes=…",
        ),
        (lambda ds: ds.map(operations=abs, input_columns="value"), "it is called"),
        (lambda ds: hr.ImageFolder("p", num_workers=4), r"ImageFolder\(\) has no parameter num_workers; .*workers=…"),
        (lambda ds: hr.ImageFolder("p", num_parallel_calls=4), r"has no parameter num_parallel_calls; leave it out"),
        (
            lambda ds: hr.ImageFolder("p", sampler=[1]),
            r"has no parameter sampler; write shuffle=True in the source, or",
        ),
        (lambda ds: hr.Range(3, batch_size=2), r"Range\(\) has no parameter batch_size; .*batch\(size=…\)"),
        (
            lambda ds: hr.ImageFolder("p", transform=abs),
            r"ImageFolder\(\) has no parameter transform; write it as a map",
        ),
        (lambda ds: hr.Csv("p", sep=";"), r"Csv\(\) has no parameter sep; .*hr\.Csv\(patterns, delimiter=…\)"),
        (lambda ds: ds.iterate(epochs=3), r"has no parameter epochs; write repeat\(count\)"),
        (lambda ds: ds.iterate(rank=0), r"has no parameter rank; write iterate\(shard=\(rank, world\)\)"),
        (lambda ds: hr.Text("p", buffer_size=2), r"Text\(\) has no parameter buffer_size; .*shuffle\(window=…\)"),
    ],
)
def test_a_keyword_of_another_library_names_ours(call, advice):
    with pytest.raises(TypeError, match=advice):
        call(hr.Range(3))


# Those of DataLoader that no method or source has.
DATALOADER = (
    "batch_sampler, batch_size, collate_fn, drop_last, generator, in_order, multiprocessing_context, num_workers, "
    "persistent_workers, pin_memory, pin_memory_device, prefetch_factor, sampler, shuffle, timeout, worker_init_fn"
)


@pytest.mark.parametrize("name", DATALOADER.split(", "))
def test_every_keyword_of_a_dataloader_has_advice(name):
    with pytest.raises(TypeError, match=f"batch\\(\\) has no parameter {name}; ."):
        hr.Range(3).batch(2, **{name: 1})
    with pytest.raises(TypeError, match=f"iterate\\(\\) has no parameter {name}; ."):
        hr.Range(3).iterate(**{name: 1})


@pytest.mark.parametrize(
    ("make", "advice"),
    [
        (
            lambda: V.RandomCrop(8, padding_mode="reflect"),
            r"^RandomCrop\(\) has no parameter padding_mode; .*called mode",
        ),
        (lambda: V.RandomErasing(inplace=True), "inplace; leave it out"),
        (lambda: V.Grayscale(num_output_channels=3), "called output_channels"),
        (lambda: V.RandomAdjustSharpness(sharpness_factor=2), "called factor"),
        (lambda: V.MixUp(labels_getter=None), r'map\(V.MixUp\(…\), \["image", "label"\]'),
        (lambda: V.RandomApply(transforms=[V.Invert()]), "called kernels, and branches in RandomChoice"),
    ],
)
def test_a_keyword_of_torchvision_names_ours(make, advice):
    with pytest.raises(TypeError, match=advice):
        make()
    with pytest.raises(TypeError, match=r"Resize\(\) has no parameter sizes; did you mean size\?"):
        V.Resize(sizes=3)


class Interpolation(enum.Enum):
    BILINEAR = "bilinear"


def test_an_enumeration_is_answered_by_its_text():
    resize = V.Resize(4, interpolation=Interpolation.BILINEAR)
    for apply in (lambda: resize(IMAGES[0]), lambda: hr.Numpy({"x": IMAGES}).map(resize, "x")):
        with pytest.raises(hr.GraphError, match=r"Resize: interpolation: .* \(Interpolation\); write 'bilinear'"):
            apply()


@pytest.mark.parametrize(
    ("module", "name", "advice"),
    [
        (V, "ToTensor", r"; write V.ToFloat\(\) .* V.HWC2CHW\(\) for channels first"),
        (V, "SanitizeBoundingBoxes", "; it is called SanitizeBoxes"),
        (T, "Lambda", "; write the function itself in map, .*"),
        (V, "TypeCast", "; it is in headrace.transforms"),
        (T, "Resize", "; it is in headrace.vision"),
        (hr, "Resize", "; it is in headrace.vision"),
        (V, "RandomHorizontlFlip", r"; did you mean RandomHorizontalFlip\?"),
        (V, "Nothing", ""),
        (hr, "DataLoader", r"; write headrace.torch.Loader\(dataset, batch_size=…\)"),
        (hr, "ImageFoldr", r"; did you mean ImageFolder\?"),
    ],
)
def test_a_class_that_is_not_here_says_what_to_write(module, name, advice):
    with pytest.raises(AttributeError, match=f"module '{module.__name__}' has no attribute '{name}'{advice}$"):
        getattr(module, name)


def test_a_kernel_of_several_columns_asks_for_those_that_it_takes():
    batches = hr.Numpy({"x": IMAGES}).batch(3)
    with pytest.raises(
        hr.GraphError, match=r"makes 2 columns of 1 \(x\); name all that it takes, or name them with out"
    ):
        batches.map(V.MixUp(num_classes=3), "x")


def test_a_mistyped_keyword_names_the_nearest_or_all():
    with pytest.raises(TypeError, match=r"shuffle\(\) has no parameter windows; did you mean window\?"):
        hr.Range(3).shuffle(windows=4)
    with pytest.raises(TypeError, match=r"Range\(\) has no parameter batches; it has start, stop, step, shuffle"):
        hr.Range(3, batches=4)
    with pytest.raises(TypeError, match=r"iterate\(\) has no parameter epoc; did you mean epoch\?"):
        hr.Range(3).iterate(epoc=1)
    with pytest.raises(TypeError, match=r"Loader\(\) has no parameter drop_lst; did you mean drop_last\?"):
        Loader(hr.Range(3), drop_lst=True)


def test_a_mistyped_name_has_one_suggestion_and_no_private_one():
    for get in (lambda: hr.Range(3).batchh, lambda: V.RandomHorizontlFlip, lambda: hr.Range(3).epoc):
        with pytest.raises(AttributeError, match="; did you mean") as caught:
            get()
        # Python adds a suggestion of its own where both are there.
        assert caught.value.obj is None


def test_classes_of_users_may_take_such_keywords():
    class Mine(hr.Range):
        def __init__(self, *given: int, **named: int) -> None:
            self.taken = named.pop("num_workers")
            super().__init__(*given, **named)

    assert Mine(3, num_workers=4).taken == 4
    assert values(Mine(3, num_workers=4)) == [0, 1, 2]
    with pytest.raises(TypeError, match=r"Range\(\) has no parameter batch_size"):
        Mine(3, num_workers=4, batch_size=2)


def test_what_makes_a_class_of_users_may_be_no_function():
    class Wrapped:
        def __init__(self, function):
            self.function = function

        def __get__(self, made, _):
            return functools.partial(self.function, made)

    class Mine(hr.Range):
        @Wrapped
        def __init__(self, stop):
            super().__init__(2, stop)

    assert values(Mine(5)) == [2, 3, 4]


def test_no_method_of_ours_is_among_those_of_others():
    assert not [name for name in other_libraries._METHODS if name in dir(hr.Dataset)]


def test_the_advised_methods_keep_names_and_documentation():
    assert hr.Dataset.batch.__name__ == "batch"
    assert "drop_remainder" in (hr.Dataset.batch.__doc__ or "")
    assert list(inspect.signature(hr.Range).parameters)[:1] == ["start"]


def test_the_schema_is_advised_as_the_property_that_it_is():
    for name in ("element_spec", "output_shapes", "output_types"):
        with pytest.raises(AttributeError, match=r"write schema, which is not a method"):
            getattr(hr.Range(3), name)


@pytest.mark.parametrize("swapped", [V.Decode(), abs])
def test_swapped_arguments_of_map(swapped):
    with pytest.raises(hr.GraphError, match="the kernels come first, and then the columns"):
        hr.Range(3).map("value", swapped)


def test_swapped_lists_of_map():
    with pytest.raises(hr.GraphError, match="the kernels come first, and then the columns"):
        hr.Range(3).map("value", [V.Decode()])


def test_the_package_shows_its_public_names_alone():
    assert dir(hr) == sorted(hr.__all__)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (lambda: V.Resize("224"), r"Resize: size is '224'; it must be a whole number or \(height, width\)"),
        (lambda: V.CenterCrop("224"), r"CenterCrop: size is '224'; it must be a whole number or \(height, width\)"),
        (lambda: V.RandomCrop((1, 2, 3)), r"a list of 3; it must be a whole number or \(height, width\)"),
        (lambda: V.Resize(224, 256), r"interpolation is 256; it must be .*write Resize\(\(224, 256\)\)\)"),
        (lambda: V.RandomResizedCrop(224, 256), r"write RandomResizedCrop\(\(224, 256\)\)\)"),
        (lambda: V.CenterCrop(224, 256), r"for a size of two numbers write CenterCrop\(\(224, 256\)\)\)"),
    ],
)
def test_sizes_of_kernels(kernel, message):
    with pytest.raises(hr.GraphError, match=message):
        list(hr.Numpy(IMAGES).map(kernel(), "data"))


@pytest.mark.parametrize("whole_row", [lambda row: row["a"], lambda row, rng: row["a"]])
def test_a_function_that_takes_a_row_as_a_dict_is_refused_at_once(whole_row):
    pairs = hr.Numpy({"a": np.arange(3), "b": np.arange(3)})
    with pytest.raises(
        hr.GraphError, match=r"one argument for each column \(a, b\), not with a row as a dict"
    ) as caught:
        pairs.map(whole_row, ["a", "b"])
    assert "test_other_libraries.py:" in str(caught.value)
    assert re.search("too many positional arguments|multiple values for argument 'rng'", str(caught.value))
    with pytest.raises(hr.GraphError, match="not with a row as a dict"):
        pairs.filter(whole_row, ["a", "b"])


@pytest.mark.parametrize(
    ("pipeline", "got"),
    [
        (lambda ds: ds.map(lambda row: row["a"], "a"), r"\(here int64 \(\)\)"),
        (lambda ds: ds.map(lambda row: row["a"], "text"), r"\(here string \(\)\)"),
        (lambda ds: ds.map(lambda row: row["a"], "data"), r"\(here bytes \(\)\)"),
        (lambda ds: ds.map(lambda row: row.update(b=1), "a"), r"\(here int64 \(\)\)"),
        (lambda ds: ds.map(lambda row: row.get("a"), "text"), r"\(here string \(\)\)"),
        (lambda ds: ds.map(lambda row: dict(row.items()), "data"), r"\(here bytes \(\)\)"),
        (lambda ds: ds.filter(lambda row: row["a"] > 1), r"\(here int64 \(\), string \(\), bytes \(\)\)"),
    ],
)
def test_a_function_that_reads_a_row_as_a_dict_fails_with_a_hint(pipeline, got):
    table = hr.Numpy({"a": np.arange(3), "text": np.array(["x"] * 3), "data": np.array([b"x"] * 3)})
    with pytest.raises(
        hr.FunctionError, match=f"a function gets one argument for each column {got}, not a row as a dict"
    ):
        list(pipeline(table))


def written_to(image):
    image[:] = 0
    return image


def takes(image, kind):
    """As functions of torch and torchvision."""
    raise TypeError(f"argument 'input' must be {kind}, not {type(image).__module__}.{type(image).__qualname__}")


@pytest.mark.parametrize(
    ("function", "hint"),
    [
        (lambda image: image.convert("L"), r"PIL.Image.fromarray\(image\) makes a picture of PIL"),
        (lambda image: image[:2].crop((0, 0, 1, 1)), r"PIL.Image.fromarray\(image\) makes a picture of PIL"),
        (lambda image: image.width, r"PIL.Image.fromarray\(image\) makes a picture of PIL"),
        (lambda image: image.permute(2, 0, 1), r"torch.tensor\(image\) makes a tensor"),
        (lambda image: image.float() / 255, r"torch.tensor\(image\) makes a tensor"),
        (lambda image: takes(image, "Tensor"), r"torch.tensor\(image\) makes a tensor"),
        (lambda image: takes(image, "PIL Image"), r"PIL.Image.fromarray\(image\) makes a picture of PIL"),
        (lambda image: image.resize((2, 2)), r"PIL.Image.fromarray\(image\) makes a picture of PIL"),
        (written_to, r"may not write to: begin with a copy, as in image = image.copy\(\)"),
        (lambda image: np.add(image, 1, out=image), r"may not write to: begin with a copy"),
    ],
)
def test_a_function_that_takes_an_array_for_something_else_fails_with_a_hint(function, hint):
    images = hr.Numpy({"image": np.zeros((2, 4, 4, 3), np.uint8)})
    for processes in (0, 1):
        with pytest.raises(hr.FunctionError, match=rf"{hint}.*\n.*in: map") as caught:
            list(images.map(function, "image", processes=processes))
        assert caught.value.operator == "map[1] PythonFunction"


def test_other_attributes_and_values_have_no_such_hint():
    class Odd(ValueError):
        def __str__(self):
            raise OSError

    def odd(x):
        raise Odd

    images = hr.Numpy({"image": np.zeros((2, 4, 4, 3), np.uint8)})
    for function in (odd, lambda x: x.nothing, lambda x: (1).convert, lambda x: int("a")):
        with pytest.raises(hr.FunctionError) as caught:
            list(images.map(function, "image"))
        assert "a function gets" not in str(caught.value)


def test_other_errors_of_functions_have_no_such_hint():
    def fails(x):
        raise TypeError("no")

    for function in (fails, lambda x: [].pop(), lambda x: x + "a", lambda x: [].keys(), lambda x: x.nothing):
        with pytest.raises(hr.FunctionError) as caught:
            list(hr.Range(3).map(function, "value"))
        assert "as a dict" not in str(caught.value)


def test_functions_whose_parameters_are_not_known_are_called():
    assert values(hr.Range(3).map(np.negative, "value")) == [0, -1, -2]
    assert values(hr.Range(3).map(lambda *columns: columns[0], "value")) == [0, 1, 2]
    assert values(hr.Range(3).map(lambda x, y=5: x + y, "value")) == [5, 6, 7]


def test_an_epoch_that_is_no_number_is_refused_at_once():
    dataset = hr.Range(3)
    for epoch in ("3", None, 1.5, -1):
        with pytest.raises(hr.GraphError, match="Dataset: epoch is"):
            dataset.epoch = epoch
    assert dataset.epoch == 0


def test_pickling_an_iterator_proposes_its_state():
    with pytest.raises(TypeError, match=r"ds\.iterate\(state=it\.state\(\)\)"), hr.Range(3).iterate() as rows:
        pickle.dumps(rows)


def test_choices_have_literal_types():
    hints = get_type_hints(RunParameters)
    for name, choices in {
        "even": ("off", "drop", "pad"),
        "as_": ("numpy", "torch", "dlpack", "arrow"),
        "bytes_as": ("bytes", "memoryview"),
        "executor": ("threads", "pull"),
    }.items():
        assert get_args(hints[name])[0] == Literal[choices]
    declared = 0
    for op in json.loads(_engine.declarations())["operators"]:
        owner = front_of(op)
        for attribute in op["attributes"]:
            if owner is None or not attribute["choices"] or attribute["hidden"]:
                continue
            parameters = inspect.signature(getattr(owner, op["python_name"] or op["name"])).parameters
            choices = ", ".join(f'"{choice}"' for choice in attribute["choices"])
            annotation = str(parameters[attribute["name"]].annotation).replace("'", '"')
            assert f"Literal[{choices}]" in annotation, op["name"]
            declared += 1
    assert declared > 20


def test_isin_takes_long_lists():
    odd = list(range(1, 200_000, 2))
    assert values(hr.Range(99_990, 100_010).filter(hr.col("value").isin(odd))) == list(range(99_991, 100_010, 2))
    names = [f"name {i}" for i in range(50_000)]
    table = hr.Numpy({"name": np.array(["name 49999", "nobody"])})
    assert values(table.filter(hr.col("name").isin(names)), "name") == ["name 49999"]


def test_modules_of_the_package_need_no_import_of_their_own():
    code = "import sys, headrace as hr; assert 'headrace.torch' not in sys.modules; print(hr.torch.Loader, hr.mx.nd)"
    assert "Loader" in run_python(code).stdout


def test_another_python_is_named(tmp_path):
    """As on a Python whose extension modules end in another way."""
    package = tmp_path / "headrace"
    shutil.copytree(pathlib.Path(hr.__file__).parent, package, ignore=shutil.ignore_patterns("_engine*", "__pycache__"))
    (package / "_engine.cpython-399-x86_64-linux-gnu.so").touch()
    done = run_python(f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import headrace")
    assert "built for another Python: _engine.cpython-399-x86_64-linux-gnu.so" in done.stderr


def test_values_that_are_refused_say_what_to_write():
    with pytest.raises(hr.GraphError, match=r"repeat: count is 0; leave repeat out"):
        hr.Range(3).repeat(0)
    with pytest.raises(hr.GraphError, match=r"mix: weights\[1\] is 0, so input 1 would never be drawn: leave out"):
        hr.mix([hr.Range(3), hr.Range(3)], [1, 0], "all")


@pytest.mark.parametrize("name", sorted({**table_names.KEYWORDS, **augmentation_names.KEYWORDS}))
def test_a_keyword_of_a_library_of_tables_or_images_names_ours(name):
    with pytest.raises(TypeError, match=rf"sample\(\) has no parameter {name}; ."):
        hr.Range(3).sample(**{name: 1})
    with pytest.raises(TypeError, match=rf"iterate\(\) has no parameter {name}; ."):
        hr.Range(3).iterate(**{name: 1})


@pytest.mark.parametrize("name", sorted(augmentation_names.CLASSES))
def test_a_transform_of_another_library_names_ours(name):
    for module in (V, T, hr):
        with pytest.raises(
            AttributeError, match=f"has no attribute '{name}'; (write|leave it out|it is called|no kernel)"
        ):
            getattr(module, name)


@pytest.mark.parametrize("name", sorted(table_names.SOURCES))
def test_a_source_of_another_library_names_ours(name):
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'; (write|iterate|leave it out|it is called)"):
        getattr(hr, name)


@pytest.mark.parametrize("name", sorted(name for name in table_names.SOURCES if name.startswith("from_")))
def test_what_makes_a_dataset_elsewhere_names_ours(name):
    with pytest.raises(AttributeError, match=f"type object 'Dataset' has no attribute '{name}'; (write|it is called)"):
        getattr(hr.Dataset, name)


def test_a_class_of_datasets_is_as_it_was_without_advice():
    with pytest.raises(AttributeError, match="^type object 'Csv' has no attribute 'nothing'$"):
        hr.Csv.nothing  # noqa: B018
    assert not hasattr(hr.Dataset, "from_dict") and pickle.loads(pickle.dumps(hr.Csv)) is hr.Csv


def test_a_class_of_ones_own_may_be_abstract():
    class Numbers(hr.Range, abc.ABC):
        @abc.abstractmethod
        def name(self): ...

    class Few(Numbers):
        def name(self):
            return "few"

    with pytest.raises(TypeError, match="abstract"):
        Numbers(3)
    assert len(Few(3)) == 3 and isinstance(Few(3), Numbers) and not isinstance(hr.Range(3), Numbers)
    assert issubclass(Few, hr.Dataset) and not isinstance(3, hr.Dataset)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("state", r"write loader.state_dict\(\)"),
        ("num_workers", "leave it out"),
        ("pin_memory", "leave it out"),
        ("map", "write it to the dataset"),
        ("classes", "the dataset has it: loader.dataset"),
    ],
)
def test_an_attribute_of_a_loader_names_ours(name, advice):
    with pytest.raises(AttributeError, match=f"a Loader has no {name}; {advice}"):
        getattr(Loader(hr.Range(3)), name)


def test_another_attribute_of_a_loader_is_just_unknown():
    with pytest.raises(AttributeError, match="^a Loader has no nothing$"):
        Loader(hr.Range(3)).nothing  # noqa: B018
    assert not hasattr(Loader(hr.Range(3)), "__nothing__")


@pytest.mark.parametrize("added", [lambda ds: ds + ds, lambda ds: sum([ds, ds]), lambda ds: [ds] and ds + [ds]])
def test_a_sum_of_datasets_is_a_succession(added):
    with pytest.raises(TypeError, match=r"write dataset.concat\(other\)"):
        added(hr.Range(3))


def test_datasets_are_given_side_by_side():
    with pytest.raises(hr.GraphError, match=r"concat takes datasets, not .*; write concat\(\*datasets\)"):
        hr.Range(3).concat([hr.Range(3)])


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("Cifar10Dataset", "Cifar10"),
        ("CIFAR100", "Cifar100"),
        ("CocoDetection", "Coco"),
        ("VOCSegmentation", "VOC"),
        ("OxfordIIITPet", "OxfordPets"),
        ("FakeData", "FakeImage"),
    ],
)
def test_a_set_of_another_library_names_ours(name, ours):
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'; it is headrace.datasets.{ours}$"):
        getattr(hr, name)
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'; it is called {ours}$"):
        getattr(hr.datasets, name)
    assert hasattr(hr.datasets, ours)


@pytest.mark.parametrize(("form", "ours"), [("pt", "torch"), ("TF", "dlpack"), ("pandas", "arrow"), ("np", "numpy")])
def test_a_form_of_another_library_names_ours(form, ours):
    with pytest.raises(hr.GraphError, match=f'as_ is {form!r}; write "{ours}"'):
        hr.Range(3).options(as_=form)


@pytest.mark.parametrize(
    ("dtype", "ours"),
    [
        ("long", '"int64"'),
        ("int", '"int64", or "int32"'),
        ("torch.uint8", '"uint8"'),
        ("np.Float", '"float32", or "float64"'),
    ],
)
def test_a_dtype_of_another_library_names_ours(dtype, ours, tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n")
    for made in (
        lambda: T.TypeCast(dtype),
        lambda: hr.ImageFolder(tmp_path, label_type=dtype),
        lambda: hr.Csv(tmp_path / "t.csv", types={"a": dtype}).schema,
        lambda: hr.Generator(lambda: iter([1]), {"a": (dtype, ())}),
        lambda: hr.TFRecord(tmp_path / "t", {"a": dtype}).schema,
    ):
        with pytest.raises(hr.GraphError, match=f"is .*'{dtype}'.*; write {ours}"):
            made()


@pytest.mark.torch
def test_dtypes_of_torch_are_taken(photos):
    torch = pytest.importorskip("torch")
    assert hr.ImageFolder(photos, label_type=torch.long).schema["label"].dtype == "int64"
    assert hr.Range(3).map(T.TypeCast(torch.bfloat16), "value").schema["value"].dtype == "bfloat16"
    assert hr.Generator(lambda: iter([1]), {"x": torch.float32}).schema["x"].dtype == "float32"


ADVICE = [*other_libraries._METHODS.values(), *other_libraries._KEYWORDS.values()]
ADVICE += [*other_libraries._CLASSES.values(), *other_libraries._SOURCES.values()]


def test_what_advice_names_is_there():
    homes = {"hr": hr, "V": V, "T": T, "dataset": hr.Dataset}
    named = {match for advice in ADVICE for match in re.findall(r"\b(hr|V|T|dataset)\.([A-Za-z]\w*)", advice)}
    assert [f"{home}.{name}" for home, name in sorted(named) if not hasattr(homes[home], name)] == []
    methods = {match for advice in ADVICE for match in re.findall(r"^write ([a-z]\w*)\(", advice)}
    assert (
        sorted(name for name in methods - {"function", "iter", "len", "list", "next"} if not hasattr(hr.Dataset, name))
        == []
    )


def test_no_name_of_ours_is_among_those_of_others():
    assert not [name for name in augmentation_names.CLASSES if name in V.__all__ + T.__all__ + hr.__all__]
    assert not [name for name in other_libraries._SOURCES if name in hr.__all__]
    assert not set(other_libraries._KEYWORDS) & set(RunParameters.__annotations__)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: hr.ImageFolder("p", shuffel=True),
            r"ImageFolder\(\) has no parameter shuffel; did you mean shuffle\?",
        ),
        (lambda: hr.Range(3).shuffle(4, sede=1), r"shuffle\(\) has no parameter sede; did you mean seed\?"),
        (
            lambda: hr.Range(3).batch(2, drop_remainer=True),
            r"batch\(\) .* drop_remainer; did you mean drop_remainder\?",
        ),
        (lambda: hr.mix([hr.Range(3)], wieghts=[1]), r"mix\(\) has no parameter wieghts; did you mean weights\?"),
        (lambda: hr.compose([], colums="x"), r"compose\(\) has no parameter colums; did you mean columns\?"),
        (lambda: hr.from_huggingface(1, shuffel=True), r"from_huggingface\(\) .* shuffel; did you mean shuffle\?"),
        (lambda: hr.from_huggingface(1, split="train"), r"from_huggingface\(\) .* split; write split\("),
        (
            lambda: hr.Weighted([1], replacment=True),
            r"Weighted\(\) has no parameter replacment; did you mean replacement\?",
        ),
        (lambda: hr.boxes("x", fromat="xyxy"), r"boxes\(\) has no parameter fromat; did you mean format\?"),
        (lambda: hr.inference(hr.Range(3), keeep="x"), r"inference\(\) has no parameter keeep; did you mean keep\?"),
        (lambda: hr.Range(3).write_tar("x", fils=2), r"write_tar\(\) has no parameter fils; did you mean files\?"),
        (
            lambda: hr.Range(3).write_parquet("x", num_workers=2),
            r"write_parquet\(\) has no parameter num_workers; leave",
        ),
        (
            lambda: hr.Range(3).write_records("x", memry=1),
            r"write_records\(\) has no parameter memry; did you mean memory\?",
        ),
        (
            lambda: V.Resize(height=4, width=4),
            r"Resize\(\) has no parameter height; write the size as \(height, width\)",
        ),
        (lambda: V.HorizontalFlip(p=0.5), r"HorizontalFlip\(\) has no parameter p; write V.RandomApply\(kernel, p\)"),
    ],
)
def test_mistyped_keywords_of_sources_functions_samplers_and_kernels(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_the_advised_functions_keep_names_and_documentation():
    assert hr.mix.__name__ == "mix" and "weights" in (hr.mix.__doc__ or "")
    assert list(inspect.signature(hr.compose).parameters) == ["kernels", "columns", "seed"]
    assert hr.compose.__module__ == "headrace"


def test_samplers_of_users_may_take_such_keywords():
    class Mine(hr.Weighted):
        def __init__(self, num_workers: int) -> None:
            super().__init__([num_workers, 0, 0])

    assert values(hr.Range(3).sample(Mine(num_workers=4))) == [0, 0, 0]


def test_turns_and_mirrors_that_advice_names_are_those_of_other_libraries():
    image = np.random.default_rng(0).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    assert all(np.array_equal(V.Rotate(90 * turns)(image), np.rot90(image, turns)) for turns in range(4))
    assert np.array_equal(V.VerticalFlip()(V.Rotate(90)(image)), image.transpose(1, 0, 2))
    assert V.FitInside(4)(image[:, :6]).shape == (4, 3, 3)
    assert V.Resize(4)(image[:, :6]).shape == (5, 4, 3)
