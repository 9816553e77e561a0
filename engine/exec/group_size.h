// The number of rows in one message: as many as the slowest stage processes in about 20 µs, so that handing a message
// over costs little in comparison, and within a bound in bytes. A pure function.
#ifndef HEADRACE_ENGINE_EXEC_GROUP_SIZE_H_
#define HEADRACE_ENGINE_EXEC_GROUP_SIZE_H_

#include <cstdint>

namespace headrace {

// From 1 to 256, never 2 or 3, which gain too little. `row_ns`: the time that the slowest stage takes for a row, as
// rows travel now. Rows of up to 20 µs travel at least in fours, because together they may take far less, which only a
// trial shows; slower rows travel alone.
int GroupSize(uint64_t row_ns, int64_t row_bytes, int64_t most_bytes);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_GROUP_SIZE_H_
