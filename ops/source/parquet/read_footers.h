// `OpenParquet` opens a Parquet file of a file system by the library of the process, and `ReadFooters` makes the table
// of some files. Threads: pure functions; files are read on the calling thread.
#ifndef HEADRACE_OPS_SOURCE_PARQUET_READ_FOOTERS_H_
#define HEADRACE_OPS_SOURCE_PARQUET_READ_FOOTERS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "io/formats/parquet/parquet_library.h"
#include "io/formats/parquet/parquet_table.h"
#include "ops/source/file_patterns.h"

namespace headrace {

// `listed`: what the listing said of it, for a far store. kUnsupported: it is not a regular file, or the library reads
// the machine's own files alone.
absl::StatusOr<std::shared_ptr<const ParquetFile>> OpenParquet(const FileSystem& files, const ParquetLibrary& library,
                                                               const std::string& path, const ListedFile& listed);

// The Parquet files that the texts name: paths, patterns, and folders, which stand for all .parquet files below them.
// Hidden files, and those of hidden folders, are left out, as those that begin with "_".
absl::StatusOr<PathArena> MatchParquet(const FileSystem& files, const std::vector<std::string>& texts);

// Errors name the file. Ends early where Interrupt is wanted.
absl::StatusOr<ParquetTable> ReadFooters(const FileSystem& files, const ParquetLibrary& library,
                                         const MatchedFiles& matched);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_PARQUET_READ_FOOTERS_H_
