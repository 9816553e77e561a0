#include "kernels/vision/codecs/png/png_exif.h"

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace headrace {
namespace {

constexpr size_t kSignatureBytes = 8;
constexpr size_t kTypeAt = 4;
constexpr size_t kContentAt = 8;
constexpr size_t kChecksumSize = 4;
constexpr size_t kMostText = 128 << 10;
constexpr std::string_view kKeyword{"Raw profile type exif\0", 22};

uint32_t BigEndianAt(std::string_view bytes, size_t at) {
  uint32_t number = 0;
  for (const char byte : bytes.substr(at, 4)) number = number << 8 | static_cast<uint8_t>(byte);
  return number;
}

struct PngChunk {
  std::string_view type;
  std::string_view content;
};

// Takes the first chunk off; nullopt at the end, or where one is damaged or cut off.
std::optional<PngChunk> TakeChunk(std::string_view& left) {
  if (left.size() < kContentAt + kChecksumSize) return std::nullopt;
  const size_t length = BigEndianAt(left, 0);
  if (length > left.size() - kContentAt - kChecksumSize) return std::nullopt;
  const PngChunk chunk = {left.substr(kTypeAt, 4), left.substr(kContentAt, length)};
  left.remove_prefix(kContentAt + length + kChecksumSize);
  return chunk;
}

bool HasItsChecksum(const PngChunk& chunk) {
  const uLong found =
      crc32_z(0, reinterpret_cast<const Bytef*>(chunk.type.data()), chunk.type.size() + chunk.content.size());
  return found == BigEndianAt({chunk.content.data() + chunk.content.size(), kChecksumSize}, 0);
}

// At most kMostText bytes, from the beginning on.
std::string Inflated(std::string_view packed) {
  std::string text(kMostText, '\0');
  z_stream stream = {};
  if (inflateInit(&stream) != Z_OK) return "";
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  inflate(&stream, Z_SYNC_FLUSH);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

// The text of a tEXt, zTXt or iTXt chunk with this keyword; empty: it is another chunk.
std::string ProfileText(const PngChunk& chunk) {
  std::string_view text = chunk.content.substr(kKeyword.size());
  if (chunk.type == "tEXt") return std::string(text.substr(0, kMostText));
  // The method of compression, which is 0.
  if (chunk.type == "zTXt") return text.empty() ? "" : Inflated(text.substr(1));
  if (chunk.type != "iTXt" || text.size() < 2) return "";
  const bool packed = text[0] != 0;
  text.remove_prefix(2);
  // The language, and the keyword in it.
  for (int i = 0; i < 2; ++i) {
    const size_t end = text.find('\0');
    if (end == std::string_view::npos) return "";
    text.remove_prefix(end + 1);
  }
  return packed ? Inflated(text) : std::string(text.substr(0, kMostText));
}

int DigitOf(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  return letter >= 'A' && letter <= 'F' ? letter - 'A' + 10 : -1;
}

// A profile is an empty line, its name and its size, a line each, and then hexadecimal digits.
std::string BytesOfProfile(std::string_view text) {
  for (int line = 0; line < 3; ++line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return "";
    text.remove_prefix(end + 1);
  }
  std::string bytes;
  int high = -1;
  for (const char letter : text) {
    const int digit = DigitOf(letter);
    if (digit < 0) continue;
    if (high >= 0) bytes.push_back(static_cast<char>(high << 4 | digit));
    high = high < 0 ? digit : -1;
  }
  return bytes;
}

}  // namespace

std::string PngExif(std::string_view png) {
  std::string_view left = png.substr(kSignatureBytes);
  std::string profile;
  while (const std::optional<PngChunk> chunk = TakeChunk(left)) {
    if (chunk->type == "eXIf" && HasItsChecksum(*chunk)) return std::string(chunk->content);
    if (chunk->type == "IEND") break;
    if (profile.empty() && chunk->content.starts_with(kKeyword) && HasItsChecksum(*chunk)) {
      profile = BytesOfProfile(ProfileText(*chunk));
    }
  }
  return profile;
}

}  // namespace headrace
