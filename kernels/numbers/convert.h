// `ConvertValues` converts numbers from one type to another, by the rules of TypeCast.
// Threads: safe from any thread.
#ifndef HEADRACE_KERNELS_NUMBERS_CONVERT_H_
#define HEADRACE_KERNELS_NUMBERS_CONVERT_H_

#include <cstdint>

#include "core/dtype.h"

namespace headrace {

// Both types are numbers.
void ConvertValues(const uint8_t* source, DType from, int64_t count, DType to, uint8_t* target);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_NUMBERS_CONVERT_H_
