// `JoinedReads` reads pieces of numbered files for a RandomAccessReader. Pieces that follow each other in a file and
// are asked for together are read together, and all reads of one call are outstanding at once where the file system
// allows. It keeps a few files open. Of a far store more is read together, because each request costs as much as some
// bytes do: pieces with little between them, or less than 1 MB that is little beside them, up to 16 MB.
// Threads: const; any thread.
#ifndef HEADRACE_IO_FORMATS_JOINED_READS_H_
#define HEADRACE_IO_FORMATS_JOINED_READS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/files/file_system.h"
#include "io/files/started_reads.h"
#include "io/formats/pending_read.h"
#include "io/formats/random_access_reader.h"

namespace headrace {

class JoinedReads {
 public:
  // Bytes [begin, end) of a file.
  struct Piece {
    uint64_t file = 0;
    int64_t begin = 0;
    int64_t end = 0;
  };
  struct OpenFile {
    std::shared_ptr<const RandomAccessFile> file;
    int64_t size = 0;
  };
  using PieceOf = absl::FunctionRef<Piece(uint64_t item)>;
  // Makes the content of an item of `bytes`, which begin with its piece and end with what was read along;
  // content.buffer holds them. An error is that of the item.
  using Cut = absl::FunctionRef<absl::Status(uint64_t item, const OpenFile& opened, absl::Span<uint8_t> bytes,
                                             RandomAccessReader::Content& content)>;

  // What most Cuts do: gives the whole piece as the content, which has changed if the file has not `listed_bytes`.
  // kData, naming the byte: the file ends within the piece, which is `what`, such as "row".
  static absl::Status CutWhole(const Piece& piece, std::string_view what, const OpenFile& opened, int64_t listed_bytes,
                               absl::Span<const uint8_t> bytes, RandomAccessReader::Content& content);

  // Of the files that a table lists, each with its `path`, its `size` and, if it knows it, the hash of its `version`;
  // else that which the store has said.
  // `files` outlives it. `most_between`: bytes between two pieces that are read along.
  template <typename File>
  JoinedReads(const FileSystem* files, const std::vector<File>& listed, int64_t most_between)
      : files_(files), open_(listed.size()) {
    for (const File& file : listed) {
      paths_.push_back(std::make_shared<const std::string>(file.path));
      listed_.push_back(ListedAs(file));
    }
    Join(most_between);
  }

  const std::shared_ptr<const std::string>& path(uint64_t file) const { return paths_[file]; }
  // The file, which is opened unless it is open.
  absl::StatusOr<OpenFile> Open(uint64_t file) const;
  // As the Read of `reader`, which says for errors where its items are.
  size_t Read(const RandomAccessReader& reader, absl::Span<const uint64_t> items,
              absl::Span<RandomAccessReader::Content> contents, PieceOf piece_of, Cut cut, absl::Status& wrong) const;
  // As RandomAccessReader's.
  int most_outstanding() const { return most_outstanding_; }
  void Start(absl::Span<const uint64_t> items, PieceOf piece_of) const;
  absl::Status CheckFiles() const;

 private:
  // Items that are read together.
  struct Run : StartedRead {
    size_t items = 0;
    Piece piece = {};
    absl::InlinedVector<int64_t, 1> begins = {};  // of the items' pieces
    absl::Status started = {};
    OpenFile opened = {};
    std::shared_ptr<PendingRead> read = {};
  };
  // Consecutive items of one run.
  struct Part {
    std::shared_ptr<Run> run;
    size_t first = 0;
    size_t items = 0;
  };

  template <typename File>
  static ListedFile ListedAs(const File& file) {
    if constexpr (requires { file.version; }) {
      return {file.size, file.version};
    } else {
      return {file.size, 0};
    }
  }
  // Says how much is read together.
  void Join(int64_t most_between);
  void TakeVersions();
  // Whether a piece so many bytes further on is read along with so many wanted bytes, and others between them.
  bool IsNear(int64_t gap, int64_t wanted, int64_t between) const;
  // Starts to read the first of the items, with those that go with it.
  std::shared_ptr<Run> StartRun(absl::Span<const uint64_t> items, PieceOf piece_of) const;
  absl::Status StartReading(Run& run) const;
  // The reads of the items, of which those that were not begun before begin; none after one that could not begin.
  absl::InlinedVector<Part, 1> PartsOf(absl::Span<const uint64_t> items, PieceOf piece_of) const;
  // Cuts the part's items out of the run's bytes; returns how many.
  static size_t CutPart(const Part& part, absl::Span<const uint64_t> items,
                        absl::Span<RandomAccessReader::Content> contents, Cut cut, absl::Status& wrong);

  const FileSystem* const files_;
  int64_t most_between_ = 0;
  int64_t most_joined_ = 0;
  int most_outstanding_ = 0;
  std::vector<std::shared_ptr<const std::string>> paths_;
  std::vector<ListedFile> listed_;
  mutable std::mutex mutex_;
  mutable std::vector<OpenFile> open_;         // by file; without a file: it is not open
  mutable std::deque<uint64_t> opened_files_;  // in the order in which they were opened
  bool checks_ = false;                        // the store refuses no reads of another version
  mutable std::set<uint64_t> unchecked_;       // files that were read and not looked at since
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_JOINED_READS_H_
