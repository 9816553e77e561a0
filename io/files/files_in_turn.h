// `FilesInTurn` gives whole files of a list, one after the other. Those of far stores are asked for ahead, some dozens
// at once and within a bound of memory, after one listing of each folder that has many of them. Use it for many small
// files that one thread goes through. Threads: one thread at a time. What was asked for and not taken is dropped with
// it, without waiting.
#ifndef HEADRACE_IO_FILES_FILES_IN_TURN_H_
#define HEADRACE_IO_FILES_FILES_IN_TURN_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/tensor.h"
#include "io/files/far_listings.h"
#include "io/files/file_system.h"

namespace headrace {

class FilesInTurn {
 public:
  // `most_bytes`: of one file; a larger one is kData, and none of its bytes is read.
  FilesInTurn(const FileSystem& files, std::vector<std::string> paths, int64_t most_bytes);
  ~FilesInTurn();
  FilesInTurn(const FilesInTurn&) = delete;

  // The next file of the list, which must have one. kClosed: the thread's StopSignal was raised.
  absl::StatusOr<Tensor> Next();

 private:
  struct Reply;

  void Begin();
  bool HasRoom() const;
  size_t MostAtOnce() const;

  FarListings listings_;
  const FileSystem* const files_;
  const std::vector<std::string> paths_;
  const int64_t most_bytes_;
  size_t begun_ = 0;
  std::deque<std::shared_ptr<Reply>> replies_;
  int64_t asked_bytes_ = 0;  // of the files of replies_
  bool away_ = false;        // whether the store of the last one begun is, as the next would wait for it as long
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_FILES_IN_TURN_H_
