import torchvision_loader

TITLE = "torchvision, PIL images"
VENV = torchvision_loader.VENV
REQUIREMENTS = torchvision_loader.REQUIREMENTS
DISTRIBUTIONS = torchvision_loader.DISTRIBUTIONS
SETUP = "Pillow's functions, behind torchvision's v2; a DataLoader with a process for each worker, kept over epochs, prefetch_factor=4"
DIFFERS: dict[str, str] = {}


def batches(recipe, folder, workers):
    return torchvision_loader.batches(recipe, folder, False, workers)
