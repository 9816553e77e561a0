#include "io/formats/arrow/arrow_metadata.h"

#include <cstdint>
#include <cstring>

#include "core/error.h"

namespace headrace {
namespace {

int32_t TakeNumber(const char*& at) {
  int32_t number;
  std::memcpy(&number, at, sizeof(number));
  at += sizeof(number);
  return number;
}

absl::StatusOr<std::string> TakeMetadataText(const char*& at, int64_t& left) {
  const int32_t length = TakeNumber(at);
  if (length < 0 || length > left) {
    return DataError("the metadata of the schema holds a text of the length ", length, ", and ", left,
                     " bytes are left of what it may have");
  }
  std::string text(at, static_cast<size_t>(length));
  at += length;
  left -= length;
  return text;
}

void AppendMetadataText(std::string& bytes, const std::string& text) {
  const auto length = static_cast<int32_t>(text.size());
  bytes.append(reinterpret_cast<const char*>(&length), sizeof(length));
  bytes += text;
}

}  // namespace

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ArrowMetadata(const char* metadata) {
  std::vector<std::pair<std::string, std::string>> entries;
  if (metadata == nullptr) return entries;
  const int32_t count = TakeNumber(metadata);
  // The lengths of a key and of a value are read of each.
  int64_t left = kMostArrowMetadata - count * int64_t{2 * sizeof(int32_t)};
  if (count < 0 || left < 0) return DataError("the metadata of the schema says that it has ", count, " entries");
  for (int32_t i = 0; i < count; ++i) {
    HEADRACE_ASSIGN_OR_RETURN(std::string key, TakeMetadataText(metadata, left));
    HEADRACE_ASSIGN_OR_RETURN(std::string value, TakeMetadataText(metadata, left));
    entries.emplace_back(std::move(key), std::move(value));
  }
  return entries;
}

std::string ArrowMetadataBytes(const std::vector<std::pair<std::string, std::string>>& entries) {
  const auto count = static_cast<int32_t>(entries.size());
  std::string bytes(reinterpret_cast<const char*>(&count), sizeof(count));
  for (const auto& [key, value] : entries) {
    AppendMetadataText(bytes, key);
    AppendMetadataText(bytes, value);
  }
  return bytes;
}

}  // namespace headrace
