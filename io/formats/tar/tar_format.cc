#include "io/formats/tar/tar_format.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/formats/compressed/compression.h"
#include "io/formats/compressed/decompressed_records.h"
#include "io/formats/framed_reader.h"
#include "io/formats/tar/tar_member.h"
#include "io/formats/tar/tar_name.h"

namespace headrace {
namespace {

// Of a block whose samples are cut at once: what is after it has offsets that a record cannot hold.
constexpr size_t kMostCut = size_t{1} << 30;

// Belongs to one reader, and remembers what it saw. What it says of damage depends on the archive alone, not on where
// reading began or on the size of blocks.
class TarFraming : public Framing {
 public:
  explicit TarFraming(int64_t longest) : longest_(longest) {}

  int64_t looks_behind() const override { return 0; }
  // Is never asked: an archive is one split.
  First FindFirst(absl::Span<const uint8_t> bytes, int64_t /*offset*/, bool /*last*/) const override {
    return {false, bytes.size()};
  }
  absl::StatusOr<Piece> Cut(absl::Span<uint8_t> bytes, int64_t offset, int64_t stop, bool last,
                            std::vector<Record>& records) const override;
  // Of data that a header claims; headers themselves are short.
  absl::Status CheckReach(absl::Span<const uint8_t> /*bytes*/, int64_t /*offset*/,
                          const RandomAccessFile& file) const override {
    HEADRACE_ASSIGN_OR_RETURN(const int64_t size, file.Size());
    if (claimed_to_ <= size) return absl::OkStatus();
    return Failed(TarEndsWithin(claiming_, size), run_begin_, claiming_);
  }

  // Whether the two blocks of zeros have come, and zeros alone after them.
  bool ended() const { return zeros_from_ >= 0; }
  // The byte of the damage that an error told of; -1: none did.
  int64_t failed_at() const { return failed_at_; }
  // The error of an archive that ends at byte `size`, after members of no sample.
  absl::Status CutOff(int64_t size) const {
    if (size < pass_to_) return Failed(TarEndsWithin(claiming_, size), -1, claiming_);
    return Failed(TarCutOff({}, size, size), -1, size);
  }

 private:
  // Of the members that are being cut, by their places in the bytes.
  struct Run {
    bool open = false;  // there are members of one key
    size_t begin = 0;
    size_t end = 0;
    size_t at = 0;  // the next member
  };
  // A member that was read in part at least.
  struct Next {
    TarStep step;
    TarMember member;
    std::optional<TarName> name;
    int64_t reach = 0;  // how many bytes it needs

    bool claims() const { return step.kind == TarStep::Kind::kMember; }
  };

  absl::StatusOr<Next> NextOf(absl::Span<const uint8_t> bytes, int64_t offset, const Run& run) const;
  void Give(Run& run, int64_t offset, std::vector<Record>& records) const;
  absl::StatusOr<Piece> End(absl::Span<const uint8_t> bytes, int64_t offset, Run& run,
                            std::vector<Record>& records) const;
  absl::StatusOr<Piece> Wait(absl::Span<const uint8_t> bytes, int64_t offset, const Run& run, const Next& next,
                             bool last) const;
  absl::StatusOr<Piece> PassZeros(absl::Span<const uint8_t> bytes, int64_t offset) const;
  absl::Status TooLong(int64_t member) const {
    return DataError("a sample has more than ", longest_, " bytes with the member that begins at byte ", member,
                     "; give its parts keys of their own");
  }
  // The error, of damage at byte `at`; with a sample that began at byte `run`, whose end is not known.
  absl::Status Failed(const absl::Status& error, int64_t run, int64_t at) const {
    failed_at_ = run >= 0 ? run : at;
    if (run <= 0) return error;
    return DataError(ToStd(error.message()), "; the samples before byte ", run, " are whole");
  }
  static int64_t BeginOf(const Run& run, int64_t offset) {
    return run.open ? offset + static_cast<int64_t>(run.begin) : -1;
  }

  const int64_t longest_;
  mutable int64_t pass_to_ = 0;      // the byte of the archive up to which there is no sample
  mutable int64_t zeros_from_ = -1;  // where the archive ends
  mutable int64_t failed_at_ = -1;
  // The member that claims data up to byte claimed_to_, and the sample that it came in; -1: none.
  mutable int64_t claimed_to_ = 0;
  mutable int64_t claiming_ = 0;
  mutable int64_t run_begin_ = -1;
  mutable std::string key_;     // of the run
  mutable std::string joined_;  // of a path
};

absl::StatusOr<Framing::Piece> TarFraming::Cut(absl::Span<uint8_t> bytes, int64_t offset, int64_t stop, bool last,
                                               std::vector<Record>& records) const {
  if (ended()) return PassZeros(bytes, offset);
  Run run;
  run.at = static_cast<size_t>(std::clamp<int64_t>(pass_to_ - offset, 0, static_cast<int64_t>(bytes.size())));
  if (offset + static_cast<int64_t>(run.at) < pass_to_) {
    return last ? absl::StatusOr<Piece>(CutOff(offset + static_cast<int64_t>(run.at))) : Piece{run.at, 0};
  }
  while (true) {
    const int64_t at = offset + static_cast<int64_t>(run.at);
    absl::StatusOr<Next> next = NextOf(bytes, offset, run);
    if (!next.ok() && records.empty()) return Failed(next.status(), BeginOf(run, offset), at);
    if (!next.ok()) return Piece{run.open ? run.begin : run.at, 0};
    if (next->step.kind == TarStep::Kind::kEnd) return End(bytes, offset, run, records);
    if (next->name.has_value() && run.open && next->name->key != key_) {
      Give(run, offset, records);
      if (run.at > kMostCut) return Piece{run.at, 0};
    }
    if (!run.open && at >= stop) return Piece{run.at, 0};
    const size_t begin = run.open ? run.begin : run.at;
    const bool waits = next->reach > static_cast<int64_t>(bytes.size() - run.at);
    const bool too_long = next->name.has_value() && static_cast<int64_t>(run.at - begin) + next->reach > longest_;
    if ((waits || too_long) && !records.empty()) return Piece{begin, 0};
    if (too_long) return Failed(TooLong(at), BeginOf(run, offset), at);
    if (waits) return Wait(bytes, offset, run, *next, last);
    const size_t end = run.at + static_cast<size_t>(next->member.end);
    if (next->name.has_value()) {
      if (!run.open) key_ = next->name->key;
      run = {true, begin, end, end};
    }
    run.at = end;
  }
}

absl::StatusOr<TarFraming::Next> TarFraming::NextOf(absl::Span<const uint8_t> bytes, int64_t offset,
                                                    const Run& run) const {
  Next next;
  HEADRACE_ASSIGN_OR_RETURN(
      next.step, ParseTarMember(bytes.subspan(run.at), offset + static_cast<int64_t>(run.at), next.member, joined_));
  if (next.claims() && next.member.regular) next.name = TarNameOf(next.member.path);
  next.reach = next.claims() ? next.member.end : static_cast<int64_t>(next.step.needed);
  return next;
}

void TarFraming::Give(Run& run, int64_t offset, std::vector<Record>& records) const {
  records.push_back({offset + static_cast<int64_t>(run.begin), static_cast<uint32_t>(run.begin),
                     static_cast<uint32_t>(run.end - run.begin)});
  run.open = false;
}

// At the blocks of zeros.
absl::StatusOr<Framing::Piece> TarFraming::End(absl::Span<const uint8_t> bytes, int64_t offset, Run& run,
                                               std::vector<Record>& records) const {
  if (run.open) Give(run, offset, records);
  // They are looked at again, as reading may go on after any sample.
  if (!records.empty()) return Piece{run.at, 0};
  zeros_from_ = offset + static_cast<int64_t>(run.at);
  return PassZeros(bytes, offset);
}

// The piece of bytes in which no sample is whole.
absl::StatusOr<Framing::Piece> TarFraming::Wait(absl::Span<const uint8_t> bytes, int64_t offset, const Run& run,
                                                const Next& next, bool last) const {
  const int64_t at = offset + static_cast<int64_t>(run.at);
  if (last) {
    const int64_t size = offset + static_cast<int64_t>(bytes.size());
    return Failed(TarCutOff(bytes.subspan(run.at), at, size), BeginOf(run, offset), at);
  }
  claiming_ = at;
  run_begin_ = BeginOf(run, offset);
  claimed_to_ = next.claims() ? at + next.reach : 0;
  // What belongs to no sample is not held.
  if (next.claims() && !next.name.has_value() && !run.open) {
    pass_to_ = claimed_to_;
    return Piece{bytes.size(), 0};
  }
  const size_t begin = run.open ? run.begin : run.at;
  return Piece{begin, run.at - begin + static_cast<size_t>(next.reach)};
}

absl::StatusOr<Framing::Piece> TarFraming::PassZeros(absl::Span<const uint8_t> bytes, int64_t offset) const {
  const int64_t at = std::clamp<int64_t>(zeros_from_ - offset, 0, static_cast<int64_t>(bytes.size()));
  const auto other = std::find_if(bytes.begin() + at, bytes.end(), [](uint8_t byte) { return byte != 0; });
  if (other == bytes.end()) return Piece{bytes.size(), 0};
  const int64_t wrong = offset + (other - bytes.begin());
  return Failed(TarGoesOn(wrong), -1, wrong);
}

class TarReader : public RecordReader {
 public:
  TarReader(std::unique_ptr<const TarFraming> framing, std::unique_ptr<RecordReader> reader, const Split& split)
      : framing_(std::move(framing)), reader_(std::move(reader)), split_(split) {}

  absl::Status Next(RecordBlock& block) override {
    HEADRACE_RETURN_IF_ERROR(reader_->Next(block));
    if (!block.records.empty() || framing_->ended() || offset() >= split_.end) return absl::OkStatus();
    return framing_->CutOff(offset());
  }
  int64_t offset() const override { return framing_->failed_at() >= 0 ? framing_->failed_at() : reader_->offset(); }
  int64_t file_size() const override { return reader_->file_size(); }

 private:
  const std::unique_ptr<const TarFraming> framing_;
  const std::unique_ptr<RecordReader> reader_;
  const Split split_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RecordReader>> TarFormat::Open(const FileSystem& files, const std::string& path,
                                                              const Split& split, int64_t from,
                                                              size_t block_bytes) const {
  HEADRACE_ASSIGN_OR_RETURN(const Compression compression, ArchiveCompressionOfFile(files, path));
  if (compression == Compression::kNone) {
    auto framing = std::make_unique<const TarFraming>(longest_);
    HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<FramedReader> plain,
                              FramedReader::Open(framing.get(), files, path, split, from, block_bytes));
    return std::make_unique<TarReader>(std::move(framing), std::move(plain), split);
  }
  auto framing = std::make_unique<const TarFraming>(longest_compressed_);
  HEADRACE_ASSIGN_OR_RETURN(
      std::unique_ptr<RecordReader> reader,
      OpenDecompressed(framing.get(), files, path, compression, split, from, block_bytes, OnArchive::kGive));
  return std::make_unique<TarReader>(std::move(framing), std::move(reader), split);
}

}  // namespace headrace
