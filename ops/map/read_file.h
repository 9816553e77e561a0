// `MakeReadFile` makes the kernel ReadFile: it reads files whose paths are in a column, whole, when the row comes, with
// their bytes at that time. It lives in ops/ because kernels do not read files.
// Threads: as Kernel's.
#ifndef HEADRACE_OPS_MAP_READ_FILE_H_
#define HEADRACE_OPS_MAP_READ_FILE_H_

#include <memory>
#include <string_view>

#include "io/files/file_system.h"
#include "kernels/kernel.h"

namespace headrace {

inline constexpr std::string_view kReadFile = "ReadFile";

// `files`, from which a run reads, outlives the kernel.
std::unique_ptr<Kernel> MakeReadFile(const FileSystem* files, const ir::Attributes& attributes);

}  // namespace headrace

#endif  // HEADRACE_OPS_MAP_READ_FILE_H_
