// `GroupSize` gives the number of rows in one message: as many as the slowest stage processes in about 20 µs, so that
// handing a message over costs little in comparison, and within a bound in bytes; or a whole batch, which then needs no
// copy.
// Threads: pure functions.
#ifndef HEADRACE_ENGINE_EXEC_GROUP_SIZE_H_
#define HEADRACE_ENGINE_EXEC_GROUP_SIZE_H_

#include <cstdint>

namespace headrace {

// From 1 to 256, never 2 or 3, which gain too little. `row_ns`: the time that the slowest stage takes for a row, as
// rows travel now. Rows of up to 20 µs travel at least in fours, because together they may take far less, which only a
// trial shows; slower rows travel alone.
int GroupSize(uint64_t row_ns, int64_t row_bytes, int64_t most_bytes);

// The same for rows that a batch of `joined` joins (0: none does): whole batches if that is no more, or one, or a half
// or a quarter of one, that is made in about 400 µs and within 32 times the bytes, which the batch takes in any case.
// Rows often cost less in larger messages. So once a half or a quarter was tried, its cost for a row may show that a
// whole batch is made in that time, too, and the next answer is a whole batch.
int GroupSizeBelowBatch(uint64_t row_ns, int64_t row_bytes, int64_t most_bytes, int64_t joined);

// Returns how many rows of a group of `rows` to take so that a batch ends where the group ends; all if no batch ends
// within it. `given`: the rows before the group.
int EndAtBatch(int rows, uint64_t given, int64_t joined);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_GROUP_SIZE_H_
