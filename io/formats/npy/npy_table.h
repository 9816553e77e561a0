// `MakeNpyTable` says where the rows of .npy files are, which follow each other as rows of one table, and
// `MakeNpzTable` those of the arrays of an .npz archive, which are its columns. The rows of an array are its first
// axis. What is stored is read by row; members that are compressed are unpacked into memory. Threads: pure functions;
// files are read on the calling thread.
#ifndef HEADRACE_IO_FORMATS_NPY_NPY_TABLE_H_
#define HEADRACE_IO_FORMATS_NPY_NPY_TABLE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/files/file_system.h"
#include "io/formats/fixed/fixed_table.h"

namespace headrace {

// The column of an array in a file of its own that has no fields.
inline constexpr char kNpyColumn[] = "data";

// At least one file. kData, naming the file: what comes first is not an array of numbers, texts or bytes, its rows are
// not end to end, the file ends before it does or holds more, or its rows are of another type than those of the first.
absl::StatusOr<FixedTable> MakeNpyTable(const FileSystem& files, const std::vector<std::string>& paths);

// Which arrays of an archive are read.
struct NpzChoice {
  bool all = true;
  std::vector<std::string> columns = {};  // else those of these columns
};
// One part an array, whose column is the member's name without ".npy"; a record's fields are columns "name.field".
// Members that are not arrays are left out. kData, naming the member: as above, or it has another number of rows;
// naming the column: no array is for it.
absl::StatusOr<FixedTable> MakeNpzTable(const FileSystem& files, const std::string& path, const NpzChoice& choice);
// The fields of these arrays, of which nothing but the headers is read.
absl::StatusOr<std::vector<FixedField>> FindNpzFields(const FileSystem& files, const std::string& path,
                                                      const NpzChoice& choice);

// The names of the arrays, of which nothing is read.
absl::StatusOr<std::vector<std::string>> FindNpzArrays(const FileSystem& files, const std::string& path);
// For messages: "image, label", the first few.
std::string ListNpzArrays(absl::Span<const std::string> names);
// Whether it is the column of that array, or has the form of one of its fields.
bool IsNpzColumnOf(std::string_view column, std::string_view array);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_NPY_NPY_TABLE_H_
