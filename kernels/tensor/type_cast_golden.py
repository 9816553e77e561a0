"""Golden data of type_cast_test.cc: NumPy's conversions."""

from __future__ import annotations

import numpy as np

from kernels.testdata.golden import save


def main() -> None:
    # Bits of reals near every boundary of rounding to 16 bits.
    random = np.random.default_rng(5)
    singles = random.integers(0, 2**32, 3000, dtype=np.uint32).view(np.float32)
    singles = np.concatenate([singles, (2.0 ** random.uniform(-27, 17, 1000)).astype(np.float32)])
    singles = singles[~np.isnan(singles)]
    halves = random.integers(0, 0x7C00, 1000).astype(np.uint16).view(np.float16).astype(np.float64)
    ties = halves * (1 + 2.0**-11)
    near_ties = ties * (1 + random.integers(-1, 2, 1000) * 2.0**-40)
    doubles = np.concatenate([singles.astype(np.float64), ties, near_ties])
    with np.errstate(all="ignore"):
        save("cast.float32", singles)
        save("cast.float32.float16", singles.astype(np.float16))
        save("cast.float64", doubles)
        save("cast.float64.float16", doubles.astype(np.float16))
        save("cast.float64.float32", doubles.astype(np.float32))
    whole = random.integers(-(2**63), 2**63 - 1, 500, dtype=np.int64)
    save("cast.int64", whole)
    for to in ["int8", "uint8", "int16", "uint16", "int32", "uint32", "uint64", "float32", "float64", "bool"]:
        save(f"cast.int64.{to}", whole.astype(to))


if __name__ == "__main__":
    main()
