#include "io/formats/text/line_format.h"

#include <emmintrin.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

#include "core/error.h"
#include "io/formats/compressed/compression.h"
#include "io/formats/text/text_reader.h"

namespace headrace {
namespace {

constexpr std::string_view kLineFormatByteOrderMark = "\xEF\xBB\xBF";
constexpr size_t kMaskBytes = 64;

// Bit i: whether byte i is the wanted one. Finds the ends of many short lines at a few bytes a cycle, where a call for
// each costs more than the line.
uint64_t WhereIs(char wanted, const uint8_t* bytes) {
  const __m128i end = _mm_set1_epi8(wanted);
  uint64_t mask = 0;
  for (int part = 0; part < 4; ++part) {
    const __m128i sixteen = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes) + part);
    mask |= static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(sixteen, end))))
            << (16 * part);
  }
  return mask;
}

// Bit i: whether byte i has an odd number of quotes at or before it, with those before all; `within` says that of
// these, and is set to that of the last byte.
uint64_t WithinQuotes(uint64_t quotes, bool& within) {
  for (int bits = 1; bits < 64; bits *= 2) quotes ^= quotes << bits;
  if (within) quotes = ~quotes;
  within = quotes >> 63 != 0;
  return quotes;
}

// Calls take(i) for each i with bytes[i] == '\n' that is not within quotes, in order, until it returns false.
template <typename Take>
void ForEachLineEnd(absl::Span<const uint8_t> bytes, std::optional<char> quote, Take take) {
  bool within = false;
  uint8_t last[kMaskBytes] = {};
  for (size_t at = 0; at < bytes.size(); at += kMaskBytes) {
    const uint8_t* part = bytes.data() + at;
    if (bytes.size() - at < kMaskBytes) {
      std::memcpy(last, part, bytes.size() - at);
      part = last;
    }
    uint64_t ends = WhereIs('\n', part);
    if (quote.has_value()) ends &= ~WithinQuotes(WhereIs(*quote, part), within);
    for (; ends != 0; ends &= ends - 1) {
      if (!take(at + static_cast<size_t>(__builtin_ctzll(ends)))) return;
    }
  }
}

}  // namespace

size_t FindLineEnd(std::string_view bytes, std::optional<char> quote) {
  if (!quote.has_value()) return bytes.find('\n');
  size_t end = std::string_view::npos;
  const absl::Span<const uint8_t> all(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  ForEachLineEnd(all, quote, [&](size_t found) {
    end = found;
    return false;
  });
  return end;
}

std::string_view LineOf(std::string_view bytes, int64_t offset, std::optional<char> quote) {
  std::string_view line = bytes.substr(0, FindLineEnd(bytes, quote));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (offset == 0 && line.substr(0, kLineFormatByteOrderMark.size()) == kLineFormatByteOrderMark) {
    line.remove_prefix(kLineFormatByteOrderMark.size());
  }
  return line;
}

absl::StatusOr<std::unique_ptr<RecordReader>> LineFormat::Open(const FileSystem& files, const std::string& path,
                                                               const Split& split, int64_t from,
                                                               size_t block_bytes) const {
  return OpenText(this, files, path, split, from, block_bytes);
}

absl::StatusOr<bool> LineFormat::IsOneSplit(const FileSystem& files, const std::string& path) const {
  HEADRACE_ASSIGN_OR_RETURN(const Compression compression, CompressionOfFile(files, path));
  return compression != Compression::kNone;
}

Framing::First LineFormat::FindFirst(absl::Span<const uint8_t> bytes, int64_t /*offset*/, bool /*last*/) const {
  const void* const end = std::memchr(bytes.data(), '\n', bytes.size());
  if (end == nullptr) return {false, bytes.size()};
  return {true, static_cast<size_t>(static_cast<const uint8_t*>(end) - bytes.data()) + 1};
}

absl::StatusOr<Framing::Piece> LineFormat::Cut(absl::Span<uint8_t> bytes, int64_t offset, int64_t stop, bool last,
                                               std::vector<Record>& records) const {
  const size_t stop_at = static_cast<size_t>(std::min<int64_t>(stop - offset, static_cast<int64_t>(bytes.size())));
  size_t begin = 0;
  bool fits = true;
  // Adds the line up to `end`, and goes on at `next`.
  const auto add = [&](size_t end, size_t next) __attribute__((always_inline)) {
    fits = end - begin <= longest_;
    if (!fits) return;
    const bool returned = end > begin && bytes[end - 1] == '\r';
    records.push_back({offset + static_cast<int64_t>(begin), static_cast<uint32_t>(begin),
                       static_cast<uint32_t>(end - begin - (returned ? 1 : 0))});
    begin = next;
  };
  ForEachLineEnd(bytes, quote_, [&](size_t end) {
    add(end, end + 1);
    return fits && begin < stop_at;
  });
  if (fits && begin < stop_at && last) add(bytes.size(), bytes.size());
  if (records.empty() && (!fits || bytes.size() > longest_)) {
    return DataError("a line is longer than ", longest_, " bytes; is this a text file",
                     quote_.has_value() ? ", and are its quotes closed?" : "?");
  }
  if (offset == 0 && !records.empty()) {
    Record& first = records[0];
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), first.length);
    if (text.substr(0, kLineFormatByteOrderMark.size()) == kLineFormatByteOrderMark) {
      first.begin += static_cast<uint32_t>(kLineFormatByteOrderMark.size());
      first.length -= static_cast<uint32_t>(kLineFormatByteOrderMark.size());
    }
    // A mark and nothing else is an empty file, not an empty line.
    if (text.size() == kLineFormatByteOrderMark.size() && text == kLineFormatByteOrderMark &&
        bytes.size() == text.size()) {
      records.clear();
    }
  }
  return Piece{begin, 0};
}

}  // namespace headrace
