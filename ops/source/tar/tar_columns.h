// `MakeTarColumns` makes the columns of samples: of records that are the runs of members which TarFormat cuts.
// Threads: one thread at a time.
#ifndef HEADRACE_OPS_SOURCE_TAR_TAR_COLUMNS_H_
#define HEADRACE_OPS_SOURCE_TAR_TAR_COLUMNS_H_

#include <memory>
#include <vector>

#include "ops/source/split_source.h"
#include "ops/source/tar/tar_field.h"

namespace headrace {

// In their order. Errors of a row name the sample, and the field that is not what it should be; so does a sample that
// has a field twice.
std::unique_ptr<RecordColumns> MakeTarColumns(const std::vector<TarField>& fields);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_TAR_TAR_COLUMNS_H_
