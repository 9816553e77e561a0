// `FollowedLinks` ends endless walks over folders. A walk follows symbolic links, so a link may lead back to a folder
// above it, and links in linked folders may reach the same files by very many paths: 25 folders with two links each
// make 33 million. Either ends the walk with an error. What is reached once counts nothing, however many links there
// are.
// Threads: any thread; one walk may have several.
#ifndef HEADRACE_IO_FILES_FOLLOWED_LINKS_H_
#define HEADRACE_IO_FILES_FOLLOWED_LINKS_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/seeded_hash.h"
#include "io/files/file_system.h"

namespace headrace {

class FollowedLinks {
 public:
  // The paths by which a walk may reach each folder, and the folders and entries of folders that it may reach by
  // further ones, in all.
  static constexpr int kFreeWays = 16;
  static constexpr int64_t kMostAgain = 10'000;

  explicit FollowedLinks(const FileSystem& files) : files_(files) {}

  // Called before the walk enters root/relative, which is a link to a folder. kNotFound if that is one of the folders
  // above it, including root.
  absl::Status Enter(const std::string& root, std::string_view relative) const;
  // Called for each folder that the walk has listed, with its identity (FileStat). kNotFound: links reach too much
  // again.
  absl::Status Listed(const std::string& path, const std::string& identity, size_t entries);

 private:
  struct Ways {
    int count = 0;
    uint64_t last = 0;  // the hash of the last path: a walk may list a folder several times by the same one
  };

  const FileSystem& files_;
  std::mutex mutex_;
  std::unordered_map<std::string, Ways, SeededHash> ways_;  // by identity
  int64_t again_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_FOLLOWED_LINKS_H_
