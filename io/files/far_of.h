// `FarOf` says whether a path is one of a far store, so that sources read from it as is good for a network.
// Threads: any thread.
#ifndef HEADRACE_IO_FILES_FAR_OF_H_
#define HEADRACE_IO_FILES_FAR_OF_H_

#include <string>

#include "io/files/far_files.h"
#include "io/files/file_system.h"

namespace headrace {

// The store that serves the path; null: it is not far, or no file system serves it.
const FarFiles* FarOf(const FileSystem& files, const std::string& path);
// How many reads of it may be outstanding at once without a thread for each; 0: each read holds its thread.
int MostOutstanding(const FileSystem& files, const std::string& path);

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_FAR_OF_H_
