// `NoteFile` finds notes that came with a file of rows (docs/entry-points.md): `headrace pack` and `headrace index`
// write them before any row is read. Notes are found by a hash of the bytes that they are about, so that those of other
// bytes are not found; whoever uses one checks it. Open reads the end of the file. All else is read when it is asked
// for, of a file that is open for so long, and nothing stays in memory. Threads: any thread.
#ifndef HEADRACE_ENGINE_CACHE_NOTE_FILE_H_
#define HEADRACE_ENGINE_CACHE_NOTE_FILE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"

namespace headrace {

class NoteFile {
 public:
  // Errors: those of the file system; kData: it is not such a file, or does not end where it should. That one has
  // the path as its field. `files` must outlive it.
  static absl::StatusOr<std::unique_ptr<const NoteFile>> Open(const FileSystem& files, const std::string& path);

  uint64_t notes() const { return notes_; }
  // Sets `bytes`. False: there is no such note, it cannot be read, or it is longer than `most`.
  bool Find(uint64_t key, size_t most, std::string& bytes) const;
  // Calls `take` with the key of each note, up to the first that cannot be read.
  void ForEachKey(const std::function<void(uint64_t key)>& take) const;

 private:
  NoteFile(const FileSystem& files, std::string path, uint64_t table, uint64_t notes)
      : files_(files), path_(std::move(path)), table_(table), notes_(notes) {}

  const FileSystem& files_;
  const std::string path_;
  const uint64_t table_;  // its byte
  const uint64_t notes_;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_CACHE_NOTE_FILE_H_
