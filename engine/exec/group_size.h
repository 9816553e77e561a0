// How many rows travel in one message: as many as the stage that is slowest at them does in about 20 µs, so that
// handing a message over costs little beside them, and within the bytes given. A pure function.
#ifndef HEADRACE_ENGINE_EXEC_GROUP_SIZE_H_
#define HEADRACE_ENGINE_EXEC_GROUP_SIZE_H_

#include <cstdint>

namespace headrace {

// From 1 to 256. `row_ns`: what the slowest stage takes for a row, as rows travel now. Never two or three: that is not
// worth it. Rows that take up to 20 µs each go by fours, since together they may take far less, which only trying
// shows; slower ones alone.
int GroupSize(uint64_t row_ns, int64_t row_bytes, int64_t most_bytes);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_GROUP_SIZE_H_
