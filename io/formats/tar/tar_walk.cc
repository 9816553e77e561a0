#include "io/formats/tar/tar_walk.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/interrupt.h"
#include "io/formats/compressed/compression.h"
#include "io/formats/tar/tar_format.h"
#include "io/formats/tar/tar_member.h"
#include "io/formats/tar/tar_name.h"

namespace headrace {
namespace {

constexpr size_t kTailBytes = size_t{64} << 10;

// The headers of an archive, one member after the other.
class TarHeads {
 public:
  TarHeads(const RandomAccessFile& file, int64_t size) : file_(file), size_(size) {}

  // Sets the member at byte `at`, which is whole; false: the archive ends there.
  absl::StatusOr<bool> At(int64_t at, TarMember& member) {
    HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
    bytes_.clear();
    size_t needed = kTarBlock;
    while (true) {
      HEADRACE_RETURN_IF_ERROR(ReadUpTo(at, needed));
      HEADRACE_ASSIGN_OR_RETURN(const TarStep step, ParseTarMember(bytes_, at, member, joined_));
      if (step.kind == TarStep::Kind::kEnd) return false;
      if (step.kind == TarStep::Kind::kMember) {
        if (member.end > size_ - at) return TarEndsWithin(at, size_);
        return true;
      }
      if (bytes_.size() < needed) return TarCutOff(bytes_, at, size_);
      needed = step.needed;
    }
  }

  // kData: a byte from `at` on is not zero.
  absl::Status CheckZeros(int64_t at) {
    while (at < size_) {
      HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
      bytes_.clear();
      HEADRACE_RETURN_IF_ERROR(ReadUpTo(at, kTailBytes));
      if (bytes_.empty()) return absl::OkStatus();
      const auto other = std::find_if(bytes_.begin(), bytes_.end(), [](uint8_t byte) { return byte != 0; });
      if (other != bytes_.end()) return TarGoesOn(at + (other - bytes_.begin()));
      at += static_cast<int64_t>(bytes_.size());
    }
    return absl::OkStatus();
  }

 private:
  // Reads what is missing of `bytes` from byte `at` on; fewer are there if the file ends.
  absl::Status ReadUpTo(int64_t at, size_t bytes) {
    const size_t held = bytes_.size();
    bytes_.resize(bytes);
    HEADRACE_ASSIGN_OR_RETURN(const int64_t got,
                              file_.ReadAt(at + static_cast<int64_t>(held), absl::MakeSpan(bytes_).subspan(held)));
    bytes_.resize(held + static_cast<size_t>(got));
    return absl::OkStatus();
  }

  const RandomAccessFile& file_;
  const int64_t size_;
  std::vector<uint8_t> bytes_;
  std::string joined_;
};

absl::Status CheckNotCompressed(const RandomAccessFile& file) {
  uint8_t first[kArchiveCompressionBytes] = {};
  HEADRACE_ASSIGN_OR_RETURN(const int64_t got, file.ReadAt(0, absl::MakeSpan(first)));
  const Compression compression = ArchiveCompressionOf(absl::MakeConstSpan(first, static_cast<size_t>(got)));
  if (compression == Compression::kNone) return absl::OkStatus();
  return CannotBeIndexed(compression, "an archive", "sample");
}

}  // namespace

absl::StatusOr<ItemSpans> WalkTar(const RandomAccessFile& file, int64_t size, int64_t from) {
  HEADRACE_RETURN_IF_ERROR(CheckNotCompressed(file));
  TarHeads heads(file, size);
  ItemSpans samples;
  std::string key;
  TarMember member;
  int64_t at = from;
  while (true) {
    HEADRACE_ASSIGN_OR_RETURN(const bool there, heads.At(at, member));
    if (!there) break;
    const std::optional<TarName> name = member.regular ? TarNameOf(member.path) : std::nullopt;
    if (name.has_value()) {
      if (samples.begins.empty() || name->key != key) {
        samples.begins.push_back(at);
        samples.ends.push_back(at);
        key = name->key;
      }
      samples.ends.back() = at + member.end;
      if (samples.ends.back() - samples.begins.back() > TarFormat::kLongest) {
        return DataError("the sample at byte ", samples.begins.back(), " has more than ", TarFormat::kLongest,
                         " bytes; give each of its parts a key of its own");
      }
    }
    at += member.end;
  }
  HEADRACE_RETURN_IF_ERROR(heads.CheckZeros(at));
  samples.end = at;
  return samples;
}

}  // namespace headrace
