// `NamedSource` is a source with random access that names its operator in the errors of its reads: operators on indices
// above it read through it, and nothing else says which of them failed.
// Threads: as for IndexedSource.
#ifndef HEADRACE_ENGINE_PLAN_NAMED_SOURCE_H_
#define HEADRACE_ENGINE_PLAN_NAMED_SOURCE_H_

#include <memory>

#include "engine/operator/operator.h"

namespace headrace {

std::unique_ptr<IndexedSource> NamedSource(std::unique_ptr<IndexedSource> source, const OpArguments& arguments);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_PLAN_NAMED_SOURCE_H_
