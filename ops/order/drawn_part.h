// `DrawPart` draws a part of a source's rows by a permutation, in the order of the source. The permutation depends on a
// seed and the number of rows alone, so parts of equal borders do not overlap, wherever they are made. Use it with
// `DrawnPartDeclaration` for operators that give such parts.
// Threads: any thread.
#ifndef HEADRACE_OPS_ORDER_DRAWN_PART_H_
#define HEADRACE_OPS_ORDER_DRAWN_PART_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "ir/declaration.h"
#include "ops/order/row_order.h"

namespace headrace {

// Positions `begin` to `end` of the permutation are in the part, or, with `rest`, all others.
struct DrawnPositions {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool rest = false;
};
// kUnsupported for more than 2^33 rows, as each takes a bit.
absl::StatusOr<std::unique_ptr<RowOrder>> DrawPart(uint64_t rows, uint64_t seed, const DrawnPositions& borders);

// Completes `own` with what these operators declare alike: their role, traits and module, and that columns pass.
ir::Declaration DrawnPartDeclaration(ir::Declaration own);
// Their attribute `seed`.
ir::Attribute SeedOfMembers();

}  // namespace headrace

#endif  // HEADRACE_OPS_ORDER_DRAWN_PART_H_
