// Fuzzes the bytes of a graph.
#include <cstddef>
#include <cstdint>

#include "ir/graph.h"
#include "ir/testing/fake_ops.h"
#include "ir/testing/take_in.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  headrace::ir::DeclareFakeOps();
  headrace::ir::TakeIn(headrace::ir::ParseGraph({reinterpret_cast<const char*>(data), size}));
  return 0;
}
