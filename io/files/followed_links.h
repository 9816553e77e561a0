// `FollowedLinks` ends endless walks over folders. A walk follows symbolic links, so a link may lead back to a folder
// above it, and links in linked folders may reach one folder by very many paths: 25 folders with two links each make 33
// million. Either ends the walk with an error.
// Threads: belongs to one walk, on one thread.
#ifndef HEADRACE_IO_FILES_FOLLOWED_LINKS_H_
#define HEADRACE_IO_FILES_FOLLOWED_LINKS_H_

#include <string>
#include <string_view>
#include <unordered_map>

#include "core/seeded_hash.h"
#include "io/files/file_system.h"

namespace headrace {

class FollowedLinks {
 public:
  // The most paths by which a walk enters one folder.
  static constexpr int kMostWays = 10'000;

  explicit FollowedLinks(const FileSystem& files) : files_(files) {}

  // Called before the walk enters root/relative, which is a link to a folder. kNotFound if that is one of the folders
  // above it, including root, or was entered by too many paths.
  absl::Status Enter(const std::string& root, std::string_view relative);

 private:
  const FileSystem& files_;
  std::unordered_map<std::string, int, SeededHash> ways_;  // by identity
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_FOLLOWED_LINKS_H_
