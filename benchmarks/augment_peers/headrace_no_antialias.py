TITLE = "Headrace, antialias=False"
VENV = ""
REQUIREMENTS: tuple[str, ...] = ()
DISTRIBUTIONS: tuple[str, ...] = ()
SETUP = "the work of MindSpore, whose kernels have no antialias, beside it: RandomResizedCrop(antialias=False); else as Headrace"
RECIPES = ("jitter", "trivial")
LIKE = "mindspore"
DIFFERS = {"jitter": "near: no antialias", "trivial": "near: no antialias"}


def batches(recipe, folder, workers):
    import headrace_augment

    return headrace_augment.batches(recipe, folder, antialias=False)
