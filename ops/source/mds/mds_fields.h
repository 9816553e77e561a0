// `FindMdsFields` finds the fields of a folder of MDS shards: the type of each column by its encoding, and that of
// arrays by the first sample. `MdsField` is one of them. Threads: values and pure functions; files are read on the
// calling thread.
#ifndef HEADRACE_OPS_SOURCE_MDS_MDS_FIELDS_H_
#define HEADRACE_OPS_SOURCE_MDS_MDS_FIELDS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/files/file_system.h"
#include "io/formats/mds/mds_encoding.h"
#include "io/formats/mds/mds_index.h"
#include "ir/type.h"

namespace headrace {

struct MdsField {
  size_t column = 0;  // its number in the index
  MdsEncoding encoding = {};
  ir::ColumnType type = {};
};

// The texts of a hidden attribute `fields`: "image bytes ()", "arr float32 (None, None)". Of the chosen columns, or of
// all without `columns`; kUnsupported, naming the column: its encoding is not read.
absl::StatusOr<std::vector<std::string>> FindMdsFields(const FileSystem& files, const std::string& folder,
                                                       const std::vector<std::string>* columns);

// The bytes of each column of a sample. kData: the sizes that it says do not make the sample.
absl::Status SplitMdsSample(absl::Span<const MdsColumn> columns, std::string_view sample,
                            absl::Span<std::string_view> parts);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_MDS_MDS_FIELDS_H_
