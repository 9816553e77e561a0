// `DefaultFileSystem` is the registry, which selects a file system by the scheme of the path. It is declared apart,
// because most code only passes it on.
// Threads: any thread.
#ifndef HEADRACE_IO_FILES_DEFAULT_FILE_SYSTEM_H_
#define HEADRACE_IO_FILES_DEFAULT_FILE_SYSTEM_H_

namespace headrace {

class FileSystem;

// Lives as long as the process.
const FileSystem* DefaultFileSystem();

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_DEFAULT_FILE_SYSTEM_H_
