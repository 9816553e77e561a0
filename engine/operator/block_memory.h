// `TakeBlockMemory` and `GiveBlockMemory` reuse the memory of blocks. A block is allocated on one thread and freed on
// another, which costs a general allocator a lock each time; here every thread keeps some memory and exchanges it with
// the others a dozen blocks at a time.
// Threads: any thread.
#ifndef HEADRACE_ENGINE_OPERATOR_BLOCK_MEMORY_H_
#define HEADRACE_ENGINE_OPERATOR_BLOCK_MEMORY_H_

#include <cstddef>

namespace headrace {

// `bytes` is the same in all calls.
void* TakeBlockMemory(size_t bytes);
void GiveBlockMemory(void* memory);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_OPERATOR_BLOCK_MEMORY_H_
