// `WholeFiles` gives files as items: item i is file i of a listing, read whole with its current bytes. A store that can
// tell refuses a file that changed since it was listed.
// Threads: as RandomAccessReader's.
#ifndef HEADRACE_IO_FORMATS_WHOLE_FILES_H_
#define HEADRACE_IO_FORMATS_WHOLE_FILES_H_

#include <memory>
#include <string>

#include "io/files/file_system.h"
#include "io/formats/pending_file.h"
#include "io/formats/random_access_reader.h"

namespace headrace {

class WholeFiles : public RandomAccessReader {
 public:
  // `files` outlives it.
  explicit WholeFiles(const FileSystem* files) : files_(files) {}

  Location LocationOf(uint64_t item) const final { return {item, static_cast<int64_t>(item), -1}; }
  std::shared_ptr<const std::string> Path(uint64_t file) const final {
    return std::make_shared<const std::string>(PathOf(file));
  }
  size_t Read(absl::Span<const uint64_t> items, absl::Span<Content> contents, absl::Status& wrong) const final;
  int most_outstanding() const final;
  void Start(absl::Span<const uint64_t> items) const final;

 private:
  std::shared_ptr<PendingFile> StartOne(uint64_t item) const;
  absl::StatusOr<Tensor> ReadNow(uint64_t item) const;
  // What the listing says of a file.
  virtual std::string PathOf(uint64_t file) const = 0;
  // What errors call it.
  virtual std::string NameOf(uint64_t file) const { return PathOf(file); }
  virtual ListedFile ListedAs(uint64_t file) const = 0;
  // Whether a file was read with another size than listed.
  virtual bool Differs(uint64_t file, int64_t bytes) const {
    const int64_t listed = ListedAs(file).size;
    return listed >= 0 && listed != bytes;
  }
  // Called for each file that has another size than listed.
  virtual void NoteChange() const {}

  const FileSystem* const files_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_WHOLE_FILES_H_
