// `FilePieces` is a file that is made of parts of another one and of new bytes; `ReplaceByPieces` writes it in the
// other's place.
// Threads: works on the calling thread.
#ifndef HEADRACE_IO_FORMATS_MODEL_FILE_PIECES_H_
#define HEADRACE_IO_FORMATS_MODEL_FILE_PIECES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "io/files/file_system.h"

namespace headrace {

struct FilePiece {
  // Of the old file, before `text`.
  int64_t begin = 0;
  int64_t end = 0;
  std::string text = {};

  int64_t size() const { return end - begin + static_cast<int64_t>(text.size()); }
};

class FilePieces {
 public:
  void Keep(int64_t begin, int64_t end) {
    if (begin < end) pieces_.push_back({begin, end});
  }
  void Add(std::string text) { pieces_.push_back({0, 0, std::move(text)}); }

  const std::vector<FilePiece>& pieces() const { return pieces_; }
  int64_t size() const {
    int64_t size = 0;
    for (const FilePiece& piece : pieces_) size += piece.size();
    return size;
  }

 private:
  std::vector<FilePiece> pieces_;
};

// `file` is the one at `path`, and `before` what Stat said of it before it was looked at. Readers see the old file or
// the new one. kData: it was written to meanwhile. Ends early for Interrupt.
absl::Status ReplaceByPieces(const FileSystem& files, const std::string& path, const RandomAccessFile& file,
                             const FileStat& before, const FilePieces& pieces);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MODEL_FILE_PIECES_H_
