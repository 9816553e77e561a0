// Walks follow symbolic links, so a link may lead back to a folder above it. Safe from any thread.
#ifndef HEADRACE_IO_LINK_CIRCLE_H_
#define HEADRACE_IO_LINK_CIRCLE_H_

#include <string>
#include <string_view>

#include "io/file_system.h"

namespace headrace {

// An error where the folder root/relative, reached through a link, is one of the folders above it, root included.
absl::Status CheckNoCircle(const FileSystem& files, const std::string& root, std::string_view relative);

}  // namespace headrace

#endif  // HEADRACE_IO_LINK_CIRCLE_H_
