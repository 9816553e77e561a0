#include "io/files/hdfs/token_file.h"

#include <cstdint>
#include <optional>

#include "absl/strings/escaping.h"
#include "core/error.h"
#include "io/files/hdfs/hdfs_url.h"

namespace headrace::hdfs {
namespace {

constexpr std::string_view kTokenFileMagic = "HDTS";

absl::Status DamagedTokensError() { return DataError("this is not a file of Hadoop's credentials, or it is damaged"); }

// Takes numbers and byte strings off the front of bytes.
class TokenBytes {
 public:
  explicit TokenBytes(std::string_view rest) : rest_(rest) {}

  bool empty() const { return rest_.empty(); }

  std::optional<uint8_t> TakeByte() {
    if (rest_.empty()) return std::nullopt;
    const auto byte = static_cast<uint8_t>(rest_[0]);
    rest_.remove_prefix(1);
    return byte;
  }

  // Hadoop's own form: one byte from -112 on is the number; below, it says how many bytes follow, the highest first.
  // nullopt for negative numbers, too: all that are written here are lengths and counts.
  std::optional<uint64_t> TakeHadoopNumber() {
    const std::optional<uint8_t> first = TakeByte();
    if (!first.has_value()) return std::nullopt;
    const int head = static_cast<int8_t>(*first);
    if (head >= 0) return head;
    const int bytes = -112 - head;
    if (bytes < 1 || bytes > 8) return std::nullopt;
    uint64_t number = 0;
    for (int i = 0; i < bytes; ++i) {
      const std::optional<uint8_t> byte = TakeByte();
      if (!byte.has_value()) return std::nullopt;
      number = number << 8 | *byte;
    }
    return number;
  }

  // Protobuf's form.
  std::optional<uint64_t> TakeVarint() {
    uint64_t number = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::optional<uint8_t> byte = TakeByte();
      if (!byte.has_value()) return std::nullopt;
      number |= static_cast<uint64_t>(*byte & 0x7f) << shift;
      if (*byte < 0x80) return number;
    }
    return std::nullopt;
  }

  std::optional<std::string_view> Take(std::optional<uint64_t> bytes) {
    if (!bytes.has_value() || *bytes > rest_.size()) return std::nullopt;
    const std::string_view taken = rest_.substr(0, *bytes);
    rest_.remove_prefix(*bytes);
    return taken;
  }
  std::optional<std::string_view> TakeText() { return Take(TakeHadoopNumber()); }

 private:
  std::string_view rest_;
};

std::optional<DelegationToken> TakeToken(TokenBytes& bytes) {
  DelegationToken token;
  for (std::string* const part : {&token.identifier, &token.password, &token.kind, &token.service}) {
    const std::optional<std::string_view> taken = bytes.TakeText();
    if (!taken.has_value()) return std::nullopt;
    *part = std::string(*taken);
  }
  return token;
}

absl::StatusOr<std::vector<DelegationToken>> ParseWritable(TokenBytes bytes) {
  const std::optional<uint64_t> count = bytes.TakeHadoopNumber();
  if (!count.has_value()) return DamagedTokensError();
  std::vector<DelegationToken> tokens;
  for (uint64_t i = 0; i < *count; ++i) {
    const std::optional<std::string_view> alias = bytes.TakeText();
    std::optional<DelegationToken> token = alias.has_value() ? TakeToken(bytes) : std::nullopt;
    if (!token.has_value()) return DamagedTokensError();
    tokens.push_back(*std::move(token));
  }
  return tokens;
}

// Calls `see` with the number and the bytes of each field that is a byte string; false: the message is damaged.
template <typename See>
bool ForEachField(std::string_view message, const See& see) {
  constexpr uint64_t kVarintField = 0;
  constexpr uint64_t kLongField = 1;
  constexpr uint64_t kBytesField = 2;
  constexpr uint64_t kWordField = 5;
  TokenBytes bytes(message);
  while (!bytes.empty()) {
    const std::optional<uint64_t> tag = bytes.TakeVarint();
    if (!tag.has_value()) return false;
    switch (*tag & 7) {
      case kVarintField:
        if (!bytes.TakeVarint().has_value()) return false;
        break;
      case kLongField:
        if (!bytes.Take(8).has_value()) return false;
        break;
      case kWordField:
        if (!bytes.Take(4).has_value()) return false;
        break;
      case kBytesField: {
        const std::optional<std::string_view> value = bytes.Take(bytes.TakeVarint());
        if (!value.has_value() || !see(*tag >> 3, *value)) return false;
        break;
      }
      default:
        return false;
    }
  }
  return true;
}

bool ParseTokenMessage(std::string_view message, DelegationToken& token) {
  return ForEachField(message, [&](uint64_t field, std::string_view value) {
    std::string* const parts[] = {nullptr, &token.identifier, &token.password, &token.kind, &token.service};
    if (field >= 1 && field < std::size(parts)) *parts[field] = std::string(value);
    return true;
  });
}

absl::StatusOr<std::vector<DelegationToken>> ParseMessages(TokenBytes bytes) {
  constexpr uint64_t kTokensField = 1;
  constexpr uint64_t kTokenField = 2;  // of an entry, after its alias
  const std::optional<std::string_view> credentials = bytes.Take(bytes.TakeVarint());
  std::vector<DelegationToken> tokens;
  const auto see_entry = [&](uint64_t field, std::string_view value) {
    if (field != kTokenField) return true;
    return ParseTokenMessage(value, tokens.emplace_back());
  };
  const auto see = [&](uint64_t field, std::string_view value) {
    return field != kTokensField || ForEachField(value, see_entry);
  };
  if (!credentials.has_value() || !ForEachField(*credentials, see)) return DamagedTokensError();
  return tokens;
}

bool IsOfHdfs(const DelegationToken& token) {
  return token.kind == "HDFS_DELEGATION_TOKEN" || token.kind == "WEBHDFS delegation" ||
         token.kind == "SWEBHDFS delegation";
}

// "ha-hdfs:cluster" and "10.0.0.1:8020" name clusters as paths do.
bool IsFor(const DelegationToken& token, std::string_view authority) {
  std::string_view service = token.service;
  for (const std::string_view prefix : {"ha-hdfs:", "ha-webhdfs:", "ha-swebhdfs:"}) {
    if (service.starts_with(prefix)) return service.substr(prefix.size()) == authority;
  }
  return !authority.empty() && (service == authority || HostOf(service) == HostOf(authority));
}

void AppendHadoopNumber(std::string& bytes, uint64_t number) {
  constexpr uint64_t kMostInOneByte = 127;
  if (number <= kMostInOneByte) {
    bytes.push_back(static_cast<char>(number));
    return;
  }
  int count = 1;
  while (count < 8 && number >> (8 * count) != 0) ++count;
  bytes.push_back(static_cast<char>(-112 - count));
  for (int i = count - 1; i >= 0; --i) bytes.push_back(static_cast<char>(number >> (8 * i)));
}

}  // namespace

absl::StatusOr<std::vector<DelegationToken>> ParseTokenFile(std::string_view bytes) {
  if (!bytes.starts_with(kTokenFileMagic)) return DamagedTokensError();
  TokenBytes rest(bytes.substr(kTokenFileMagic.size()));
  const std::optional<uint8_t> form = rest.TakeByte();
  if (form == 0) return ParseWritable(rest);
  if (form == 1) return ParseMessages(rest);
  return DamagedTokensError();
}

absl::StatusOr<DelegationToken> FindToken(const std::vector<DelegationToken>& tokens, std::string_view authority) {
  const DelegationToken* only = nullptr;
  int of_hdfs = 0;
  for (const DelegationToken& token : tokens) {
    if (!IsOfHdfs(token)) continue;
    if (IsFor(token, authority)) return token;
    only = &token;
    ++of_hdfs;
  }
  if (of_hdfs == 1) return *only;
  if (of_hdfs == 0) return NotFoundError("the file of credentials holds no delegation token of HDFS");
  return NotFoundError("the file of credentials holds several tokens of HDFS, none of them for ", authority,
                       "; give the token by storage=");
}

std::string TokenText(const DelegationToken& token) {
  std::string bytes;
  for (const std::string* const part : {&token.identifier, &token.password, &token.kind, &token.service}) {
    AppendHadoopNumber(bytes, part->size());
    bytes += *part;
  }
  std::string text = absl::WebSafeBase64Escape(bytes);
  while (!text.empty() && text.back() == '=') text.pop_back();
  return text;
}

}  // namespace headrace::hdfs
