// Walks follow symbolic links, so a link may lead back to a folder above it, and links within linked folders may lead
// to one folder by very many ways: 25 folders with two links each make 33 million paths. Both end a walk.
// Thread contract: belongs to one walk, on one thread.
#ifndef HEADRACE_IO_FILES_FOLLOWED_LINKS_H_
#define HEADRACE_IO_FILES_FOLLOWED_LINKS_H_

#include <string>
#include <string_view>
#include <unordered_map>

#include "io/files/file_system.h"

namespace headrace {

class FollowedLinks {
 public:
  // Ways to one folder that a walk takes.
  static constexpr int kMostWays = 10'000;

  explicit FollowedLinks(const FileSystem& files) : files_(files) {}

  // Before the walk enters root/relative, which is a link to a folder. kNotFound where that is one of the folders above
  // it, root included, or was entered by too many ways.
  absl::Status Enter(const std::string& root, std::string_view relative);

 private:
  const FileSystem& files_;
  std::unordered_map<std::string, int> ways_;  // by identity
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_FOLLOWED_LINKS_H_
