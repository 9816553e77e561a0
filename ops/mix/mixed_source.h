// `MixSources` makes one source with random access of several sources: the row at a position is that of the draw of
// this number. The inputs of all draws of an epoch are worked out at once, in a table of about a byte a row; those of
// two epochs are kept, charged to the pipeline.
// Threads: as IndexedSource's.
#ifndef HEADRACE_OPS_MIX_MIXED_SOURCE_H_
#define HEADRACE_OPS_MIX_MIXED_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/operator/operator.h"
#include "ops/mix/mixture_rows.h"

namespace headrace {

// The passes of an input under MixtureStop::kRepeat are its epochs from e · kMixturePasses on, as under an endless
// repeat.
inline constexpr uint64_t kMixturePasses = uint64_t{1} << 32;

// kUnsupported if an input cannot begin that pass, from 0 on, of an epoch: the last number is left free.
absl::Status CheckMixturePass(size_t input, uint64_t pass);

// kGraph, kUnsupported or kResource if the inputs cannot be mixed so.
absl::StatusOr<std::unique_ptr<IndexedSource>> MixSources(const OpArguments& arguments, MixtureStop stop,
                                                          std::vector<double> weights, IndexedSources inputs);

}  // namespace headrace

#endif  // HEADRACE_OPS_MIX_MIXED_SOURCE_H_
