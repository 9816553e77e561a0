TITLE = "Headrace"
VENV = ""
REQUIREMENTS: tuple[str, ...] = ()
DISTRIBUTIONS: tuple[str, ...] = ()
SETUP = (
    "workers left to the engine; no automatic cache (insert_caches off), which would keep the few images measured here"
)
DIFFERS: dict[str, str] = {}


def batches(recipe, folder, workers):
    import headrace_augment

    return headrace_augment.batches(recipe, folder, antialias=True)
