// `BuildLineTable` numbers the lines of files, in the order of the files and of the bytes in each, by one pass over
// them. Threads: pure functions; files are read on the calling thread.
#ifndef HEADRACE_IO_FORMATS_TEXT_LINE_TABLE_H_
#define HEADRACE_IO_FORMATS_TEXT_LINE_TABLE_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "io/files/file_system.h"
#include "io/formats/item_table.h"
#include "io/formats/record_reader.h"

namespace headrace {

// Leaves out the lines of a block that are not to be numbered.
using ChooseLines = absl::FunctionRef<void(RecordBlock& block)>;
// Numbers the records that `format`, of lines or of JSON, has in these files. An error names the file and the byte.
// kGraph: a file is compressed.
absl::StatusOr<ItemTable> BuildLineTable(const FileSystem& files, const std::vector<std::string>& paths,
                                         const Format& format, ChooseLines choose);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TEXT_LINE_TABLE_H_
