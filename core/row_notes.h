// `RowNotes` keeps what a kernel found out about a row, and gives it back when the row comes to the same step again, in
// a later epoch or a later run: the points of a file at which decoding can begin, for example. A note saves work and
// never changes a result: it may be gone at any time, it may have been made of another row's bytes, and a file that it
// was read from may have been damaged. A kernel checks it against its input before it uses it.
// `NoteStore` is what the engine keeps the notes of all rows in. Notes may also come with the files of rows, made
// before any row was read; those are found by a hash of the bytes that they are about. Threads: RowNotes belong to one
// call of a kernel; a NoteStore is used from any thread.
#ifndef HEADRACE_CORE_ROW_NOTES_H_
#define HEADRACE_CORE_ROW_NOTES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "core/hash.h"

namespace headrace {

// What a kernel found of the note that was there before: a wrong one was made of other bytes, or damaged.
enum class EarlierNote { kRightOrNone, kWrong };

// Of a file of notes beside a file of rows, after that file's whole name.
inline constexpr std::string_view kNoteFileEnding = ".points";

class NoteStore {
 public:
  virtual ~NoteStore() = default;
  // Sets `bytes`. False: there is no such note, and `bytes` may hold anything.
  virtual bool Find(uint64_t key, std::string& bytes) = 0;
  // Keeps the note, or not. It replaces a wrong one, and else a shorter one.
  virtual void Leave(uint64_t key, std::string_view bytes, EarlierNote earlier) = 0;
  // Counts a row for which a note saved work.
  virtual void CountUse() = 0;
  // Whether notes came with the rows' files.
  virtual bool has_given() const { return false; }
  // As Find, among those, by a GivenNoteKey.
  virtual bool FindGiven(uint64_t /*key*/, std::string& /*bytes*/) { return false; }
};

// The key of a note that comes with files: `name` is the kernel's own, `checksum` that of the bytes that it is about.
inline uint64_t GivenNoteKey(std::string_view name, uint64_t checksum) { return HashBytes(name, checksum); }

class RowNotes {
 public:
  // `row` identifies the row and the step. The store must outlive the notes.
  RowNotes(NoteStore& store, uint64_t row) : store_(store), row_(row) {}

  // `key` names one of the kernel's notes for a row. Sets `bytes`. False: there is no such note, and `bytes` may hold
  // anything.
  bool Find(std::string_view key, std::string& bytes) const { return store_.Find(HashBytes(key, row_), bytes); }
  // The engine may keep the note for the next time. Of two that are right it keeps the longer one.
  void Leave(std::string_view key, std::string_view bytes, EarlierNote earlier = EarlierNote::kRightOrNone) const {
    store_.Leave(HashBytes(key, row_), bytes, earlier);
  }
  // Whether notes came with the rows' files, so that it pays to compute a checksum for FindGiven.
  bool has_given() const { return store_.has_given(); }
  // As Find, for a note that came with the files: `checksum` is that of the bytes that it is about.
  bool FindGiven(std::string_view key, uint64_t checksum, std::string& bytes) const {
    return store_.FindGiven(GivenNoteKey(key, checksum), bytes);
  }
  // Says that a note saved work, which reports count.
  void CountUse() const { store_.CountUse(); }

 private:
  NoteStore& store_;
  const uint64_t row_;
};

}  // namespace headrace

#endif  // HEADRACE_CORE_ROW_NOTES_H_
