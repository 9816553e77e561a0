// `HiveFolders` reads columns that the folders of a path name, as Hive, Spark and pyarrow write them:
// year=2024/split=train/part-0.parquet.
// Threads: a pure function.
#ifndef HEADRACE_OPS_SOURCE_PARQUET_HIVE_FOLDERS_H_
#define HEADRACE_OPS_SOURCE_PARQUET_HIVE_FOLDERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/dtype.h"
#include "io/files/path_arena.h"

namespace headrace {

// Keys and values of the folders, from the outermost on; "%20" in them is the byte that it stands for.
std::vector<std::pair<std::string, std::string>> HiveFolders(std::string_view path);

// The name of folders of rows without a value.
inline constexpr std::string_view kHiveMissing = "__HIVE_DEFAULT_PARTITION__";

// nullopt: the value is no whole number of 64 bits, or not as such numbers are written: "007" is a text.
std::optional<int64_t> HiveNumber(std::string_view value);

// The columns that the folders of the first path give, with their types: int64 where all paths have whole numbers
// there, else string.
std::vector<std::pair<std::string, DType>> FolderColumns(const PathArena& paths);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_PARQUET_HIVE_FOLDERS_H_
