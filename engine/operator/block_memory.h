// Memory for blocks, used again. A block is made on one thread and freed on another, which costs a general allocator a
// lock each time; here every thread keeps some and exchanges them with the others by the dozen.
// Thread contract: any thread.
#ifndef HEADRACE_ENGINE_OPERATOR_BLOCK_MEMORY_H_
#define HEADRACE_ENGINE_OPERATOR_BLOCK_MEMORY_H_

#include <cstddef>

namespace headrace {

// Always of the same number of bytes.
void* TakeBlockMemory(size_t bytes);
void GiveBlockMemory(void* memory);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_OPERATOR_BLOCK_MEMORY_H_
