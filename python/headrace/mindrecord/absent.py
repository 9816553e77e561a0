"""Advice for error messages: what to write instead of MindSpore's names that do not exist here."""

__all__ = ["no_name"]

_RECIPE = "docs/mindrecord.md says what to write in its place"
_ENCRYPTION = "encrypted files are not read: decrypt them with MindSpore first"
_ADVICE = {
    **dict.fromkeys(("Cifar10ToMR", "Cifar100ToMR", "CsvToMR", "ImageNetToMR", "MnistToMR", "TFRecordToMR"), _RECIPE),
    **dict.fromkeys(("set_dec_mode", "set_enc_key", "set_enc_mode"), _ENCRYPTION),
}


def no_name(module: str, name: str) -> AttributeError:
    """The error for a name that the module lacks."""
    advice = _ADVICE.get(name)
    return AttributeError(f"module {module!r} has no attribute {name!r}" + ("" if advice is None else f"; {advice}"))
