// `GivenNotes` finds notes in the files that came with the rows of a run (engine/cache/note_file.h), for all of its
// maps over the same rows. One file is searched where it is. Of several the first search reads all keys, and keeps in
// memory which file has which, so that a note that is in none of them costs no reads. Threads: Open and Close from one
// thread, the others from any.
#ifndef HEADRACE_ENGINE_CACHE_GIVEN_NOTES_H_
#define HEADRACE_ENGINE_CACHE_GIVEN_NOTES_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "core/buffer.h"
#include "engine/cache/note_file.h"
#include "engine/operator/row_warnings.h"
#include "io/files/file_system.h"

namespace headrace {

class GivenNotes {
 public:
  struct Use {
    MemoryAccount* account = nullptr;
    int64_t memory = 0;               // bytes that the keys may take
    RowWarnings* warnings = nullptr;  // gets the files that are left out, and why
  };

  // `files` must outlive it.
  explicit GivenNotes(const FileSystem& files) : system_(files) {}
  ~GivenNotes() { Close(); }
  GivenNotes(const GivenNotes&) = delete;

  // Files that cannot be used are left out: rows are made without their notes.
  void Open(absl::Span<const std::string> paths, const Use& use);
  // Returns the memory; nothing is found any more.
  void Close();

  uint64_t notes() const { return notes_; }
  // Bytes that the keys take once they are read.
  int64_t memory_bytes() const;
  // Sets `bytes`. False: there is no such note, it cannot be read, or it is longer than `most`.
  bool Find(uint64_t key, size_t most, std::string& bytes);

 private:
  // The key's upper half, and the number of its file in the lower one; ascending.
  using Index = std::vector<uint64_t>;

  // Null: there is none.
  std::shared_ptr<const Index> IndexOfFiles();
  std::shared_ptr<const Index> ReadKeys();

  const FileSystem& system_;
  MemoryAccount* account_ = nullptr;
  std::vector<std::unique_ptr<const NoteFile>> files_;
  uint64_t notes_ = 0;
  std::mutex mutex_;
  bool wanted_ = false;  // the index is to be made
  std::shared_ptr<const Index> index_;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_CACHE_GIVEN_NOTES_H_
