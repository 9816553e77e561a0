#include "io/formats/tar/tar_format.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/formats/compressed/compression.h"
#include "io/formats/compressed/decompressed_file.h"
#include "io/formats/forward_reader.h"
#include "io/formats/framed_reader.h"
#include "io/formats/tar/tar_member.h"
#include "io/formats/tar/tar_name.h"

namespace headrace {
namespace {

// Of a block whose samples are cut at once: what is after it has offsets that a record cannot hold.
constexpr size_t kMostCut = size_t{1} << 30;

// Belongs to one reader, and remembers what it saw.
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
  absl::Status CheckReach(absl::Span<const uint8_t> /*bytes*/, int64_t /*offset*/,
                          const RandomAccessFile& file) const override {
    HEADRACE_ASSIGN_OR_RETURN(const int64_t size, file.Size());
    return reach_ <= size ? absl::OkStatus() : WithLast(TarEndsWithin(reaching_, size));
  }

  // Whether the two blocks of zeros have come, and zeros alone after them.
  bool ended() const { return in_zeros_; }
  // The error of an archive of `size` bytes that has not ended.
  absl::Status CutOff(int64_t size) const {
    return WithLast(size < pass_to_ ? TarEndsWithin(reaching_, size) : TarCutOff({}, size, size));
  }

 private:
  // The members of one key that are being cut.
  struct Run {
    bool open = false;
    size_t begin = 0;
    size_t end = 0;
  };

  void Give(const Run& run, int64_t offset, std::vector<Record>& records) const {
    records.push_back({offset + static_cast<int64_t>(run.begin), static_cast<uint32_t>(run.begin),
                       static_cast<uint32_t>(run.end - run.begin)});
    last_key_ = key_;
  }
  absl::StatusOr<Piece> Wait(absl::Span<const uint8_t> bytes, int64_t offset, size_t at, int64_t reach, size_t begin,
                             bool last) const;
  Piece PassOver(absl::Span<const uint8_t> bytes, int64_t offset, size_t at, int64_t reach) const;
  absl::StatusOr<Piece> PassZeros(absl::Span<const uint8_t> bytes, int64_t offset) const;
  absl::Status TooLong(int64_t member) const;
  absl::Status WithLast(const absl::Status& error) const {
    if (last_key_.empty()) return error;
    return DataError(ToStd(error.message()), "; the last whole sample is \"", last_key_, "\"");
  }

  const int64_t longest_;
  mutable int64_t pass_to_ = 0;  // the byte of the archive up to which there is no sample
  mutable int64_t reach_ = 0;    // the byte up to which the member at reaching_ needs bytes
  mutable int64_t reaching_ = 0;
  mutable bool in_zeros_ = false;  // the archive has ended, at byte zeros_from_
  mutable int64_t zeros_from_ = 0;
  mutable std::string last_key_;  // of the sample given last
  mutable std::string key_;       // of the run
  mutable std::string joined_;    // of a path
};

absl::StatusOr<Framing::Piece> TarFraming::Cut(absl::Span<uint8_t> bytes, int64_t offset, int64_t stop, bool last,
                                               std::vector<Record>& records) const {
  if (in_zeros_) return PassZeros(bytes, offset);
  Run run;
  auto at = static_cast<size_t>(std::clamp<int64_t>(pass_to_ - offset, 0, static_cast<int64_t>(bytes.size())));
  if (offset + static_cast<int64_t>(at) < pass_to_ && !last) return Piece{at, 0};
  if (offset + static_cast<int64_t>(at) < pass_to_) return CutOff(offset + static_cast<int64_t>(at));
  while (true) {
    const absl::Span<const uint8_t> rest = bytes.subspan(at);
    TarMember member;
    const absl::StatusOr<TarStep> step =
        ParseTarMember(rest, offset + static_cast<int64_t>(at), member, joined_);
    if (!step.ok() && records.empty()) return WithLast(step.status());
    if (!step.ok()) return Piece{run.open ? run.begin : at, 0};
    if (step->kind == TarStep::Kind::kEnd) {
      if (run.open) Give(run, offset, records);
      if (!records.empty()) return Piece{at, 0};
      in_zeros_ = true;
      zeros_from_ = offset + static_cast<int64_t>(at);
      return PassZeros(bytes, offset);
    }
    const bool parsed = step->kind == TarStep::Kind::kMember;
    const std::optional<TarName> name = parsed && member.regular ? TarNameOf(member.path) : std::nullopt;
    if (name.has_value() && run.open && name->key != key_) {
      Give(std::exchange(run, {}), offset, records);
      if (at > kMostCut) return Piece{at, 0};
    }
    if (!run.open && offset + static_cast<int64_t>(at) >= stop) return Piece{at, 0};
    const size_t begin = run.open ? run.begin : at;
    const int64_t reach = parsed ? member.end : static_cast<int64_t>(step->needed);
    const bool waits = reach > static_cast<int64_t>(rest.size());
    const bool too_long = (name.has_value() || (run.open && waits)) && static_cast<int64_t>(at - begin) + reach > longest_;
    if ((waits || too_long) && !records.empty()) return Piece{begin, 0};
    if (too_long) return TooLong(offset + static_cast<int64_t>(at));
    if (waits && parsed && !name.has_value() && !run.open && !last) return PassOver(bytes, offset, at, reach);
    if (waits) return Wait(bytes, offset, at, reach, begin, last);
    const size_t end = at + static_cast<size_t>(member.end);
    if (name.has_value()) {
      if (!run.open) key_ = name->key;
      run = {true, begin, end};
    }
    at = end;
  }
}

// The piece of bytes that end within a member of no sample: it is not held.
Framing::Piece TarFraming::PassOver(absl::Span<const uint8_t> bytes, int64_t offset, size_t at, int64_t reach) const {
  reaching_ = offset + static_cast<int64_t>(at);
  pass_to_ = reaching_ + reach;
  return {bytes.size(), 0};
}

// The piece of bytes in which no sample is whole: one begins at `begin`, and the member at `at` needs `reach` bytes.
absl::StatusOr<Framing::Piece> TarFraming::Wait(absl::Span<const uint8_t> bytes, int64_t offset, size_t at,
                                                int64_t reach, size_t begin, bool last) const {
  reaching_ = offset + static_cast<int64_t>(at);
  if (last) return WithLast(TarCutOff(bytes.subspan(at), reaching_, offset + static_cast<int64_t>(bytes.size())));
  reach_ = reaching_ + reach;
  return Piece{begin, at - begin + static_cast<size_t>(reach)};
}

absl::Status TarFraming::TooLong(int64_t member) const {
  return DataError("a sample has more than ", longest_, " bytes with the member that begins at byte ", member,
                   "; give its parts keys of their own");
}

absl::StatusOr<Framing::Piece> TarFraming::PassZeros(absl::Span<const uint8_t> bytes, int64_t offset) const {
  const int64_t at = std::clamp<int64_t>(zeros_from_ - offset, 0, static_cast<int64_t>(bytes.size()));
  const auto other = std::find_if(bytes.begin() + at, bytes.end(), [](uint8_t byte) { return byte != 0; });
  if (other == bytes.end()) return Piece{bytes.size(), 0};
  return WithLast(TarGoesOn(offset + (other - bytes.begin())));
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
  int64_t offset() const override { return reader_->offset(); }
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
  HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<DecompressedFile> file,
                            DecompressedFile::Open(files, path, compression, block_bytes, OnArchive::kGive));
  const int64_t size = file->compressed_size();
  auto reader = std::make_unique<ForwardReader>(framing.get(), std::move(file), size, split, from, block_bytes);
  return std::make_unique<TarReader>(std::move(framing), std::move(reader), split);
}

}  // namespace headrace
