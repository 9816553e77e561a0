#include "io/files/storage_settings.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "core/error.h"
#include "io/files/file_system.h"

namespace headrace {
namespace {

constexpr int64_t kMostConnections = 4096;
constexpr double kLongestTimeout = 86400;

absl::Status ReadText(std::string_view key, const StorageValue& value, std::string& target) {
  const std::string* const text = std::get_if<std::string>(&value);
  if (text == nullptr) return GraphError("storage=: ", key, " must be a text");
  if (text->empty()) return GraphError("storage=: ", key, " is empty; leave it out, or give it a value");
  // In a header they would begin another one.
  for (const char letter : *text) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(letter))) {
      return GraphError("storage=: ", key, " has a line end or another control character in it; remove that");
    }
  }
  target = *text;
  return absl::OkStatus();
}

absl::Status ReadTruth(std::string_view key, const StorageValue& value, bool& target) {
  const bool* const truth = std::get_if<bool>(&value);
  if (truth == nullptr) return GraphError("storage=: ", key, " must be true or false");
  target = *truth;
  return absl::OkStatus();
}

absl::Status ReadWhole(std::string_view key, const StorageValue& value, int64_t most, int64_t& target) {
  const int64_t* const number = std::get_if<int64_t>(&value);
  if (number == nullptr || *number < 1 || *number > most) {
    return GraphError("storage=: ", key, " must be an integer from 1 to ", most);
  }
  target = *number;
  return absl::OkStatus();
}

absl::Status ReadSeconds(std::string_view key, const StorageValue& value, double& target) {
  const int64_t* const whole = std::get_if<int64_t>(&value);
  const double* const number = std::get_if<double>(&value);
  const double seconds = whole != nullptr ? static_cast<double>(*whole) : number != nullptr ? *number : 0;
  if (!(seconds > 0 && seconds <= kLongestTimeout)) {
    return GraphError("storage=: ", key, " must be a number of seconds above 0, at most ", int64_t{86400});
  }
  target = seconds;
  return absl::OkStatus();
}

struct SettingReader {
  std::string_view key;
  absl::Status (*read)(std::string_view key, const StorageValue& value, StorageSettings& settings);
};

template <std::string StorageSettings::* kMember>
absl::Status ReadTextSetting(std::string_view key, const StorageValue& value, StorageSettings& settings) {
  return ReadText(key, value, settings.*kMember);
}

absl::Status ReadConnections(std::string_view key, const StorageValue& value, StorageSettings& settings) {
  int64_t connections = 0;
  HEADRACE_RETURN_IF_ERROR(ReadWhole(key, value, kMostConnections, connections));
  settings.connections = static_cast<int>(connections);
  return absl::OkStatus();
}

constexpr std::array kSettingReaders = {
    SettingReader{"endpoint", ReadTextSetting<&StorageSettings::endpoint>},
    SettingReader{"region", ReadTextSetting<&StorageSettings::region>},
    SettingReader{"profile", ReadTextSetting<&StorageSettings::profile>},
    SettingReader{"anonymous", [](std::string_view key, const StorageValue& value,
                                  StorageSettings& settings) { return ReadTruth(key, value, settings.anonymous); }},
    SettingReader{"access_key", ReadTextSetting<&StorageSettings::access_key>},
    SettingReader{"secret_key", ReadTextSetting<&StorageSettings::secret_key>},
    SettingReader{"token", ReadTextSetting<&StorageSettings::token>},
    SettingReader{"ca_file", ReadTextSetting<&StorageSettings::ca_file>},
    SettingReader{"proxy", ReadTextSetting<&StorageSettings::proxy>},
    SettingReader{"timeout", [](std::string_view key, const StorageValue& value,
                                StorageSettings& settings) { return ReadSeconds(key, value, settings.timeout); }},
    SettingReader{"connections", ReadConnections},
    SettingReader{"user", ReadTextSetting<&StorageSettings::user>},
    SettingReader{"object_cache", ReadTextSetting<&StorageSettings::object_cache>},
    SettingReader{"object_cache_bytes",
                  [](std::string_view key, const StorageValue& value, StorageSettings& settings) {
                    return ReadWhole(key, value, std::numeric_limits<int64_t>::max(), settings.object_cache_bytes);
                  }},
};

absl::Status ReadSetting(std::string_view key, const StorageValue& value, StorageSettings& settings) {
  std::string keys;
  for (const SettingReader& reader : kSettingReaders) {
    if (reader.key == key) return reader.read(key, value, settings);
    Append(keys, keys.empty() ? "" : ", ", reader.key);
  }
  return GraphError("storage= has the keys ", keys, ", and no ", key);
}

absl::Status CheckTogether(const StorageSettings& settings) {
  const bool keyed = !settings.access_key.empty();
  if (keyed != !settings.secret_key.empty()) {
    return GraphError("storage=: access_key and secret_key belong together; give both, or neither");
  }
  if (settings.anonymous && (keyed || !settings.token.empty() || !settings.profile.empty())) {
    return GraphError("storage=: anonymous requests have no access_key, secret_key, token or profile; leave these out");
  }
  if (settings.object_cache_bytes != 0 && settings.object_cache.empty()) {
    return GraphError("storage=: object_cache_bytes needs object_cache, the folder that it limits");
  }
  return absl::OkStatus();
}

// "s3://" of "s3" and "s3://"; "s3://bucket" of "s3://bucket/".
std::string BeginningAsKept(std::string_view of) {
  if (RootOf(of).empty()) return Cat(of, "://");
  const size_t root = RootOf(of).size();
  while (of.size() > root && of.back() == '/') of.remove_suffix(1);
  return std::string(of);
}

bool Begins(std::string_view url, std::string_view beginning) {
  if (!url.starts_with(beginning)) return false;
  return url.size() == beginning.size() || beginning.back() == '/' || url[beginning.size()] == '/';
}

thread_local std::shared_ptr<const StorageTable> thread_storage;

}  // namespace

absl::StatusOr<StorageSettings> StorageSettingsOf(absl::Span<const std::pair<std::string, StorageValue>> given) {
  StorageSettings settings;
  for (const auto& [key, value] : given) HEADRACE_RETURN_IF_ERROR(ReadSetting(key, value, settings));
  HEADRACE_RETURN_IF_ERROR(CheckTogether(settings));
  return settings;
}

std::vector<std::pair<std::string, StorageValue>> GivenSettings(const StorageSettings& settings) {
  std::vector<std::pair<std::string, StorageValue>> given;
  const std::pair<std::string_view, const std::string&> texts[] = {
      {"endpoint", settings.endpoint},        {"region", settings.region},         {"profile", settings.profile},
      {"access_key", settings.access_key},    {"secret_key", settings.secret_key}, {"token", settings.token},
      {"ca_file", settings.ca_file},          {"proxy", settings.proxy},           {"user", settings.user},
      {"object_cache", settings.object_cache}};
  for (const auto& [key, text] : texts) {
    if (!text.empty()) given.emplace_back(key, text);
  }
  if (settings.anonymous) given.emplace_back("anonymous", true);
  if (settings.timeout != 0) given.emplace_back("timeout", settings.timeout);
  if (settings.connections != 0) given.emplace_back("connections", int64_t{settings.connections});
  if (settings.object_cache_bytes != 0) given.emplace_back("object_cache_bytes", settings.object_cache_bytes);
  return given;
}

absl::Status CheckStorageBeginning(std::string_view of) {
  const std::string whole = of.find(':') == std::string_view::npos ? Cat(of, "://") : std::string(of);
  const std::string_view root = RootOf(whole);
  if (root.ends_with("://") && !root.starts_with("file:")) {
    const std::string lower = absl::AsciiStrToLower(ToAbsl(root));
    if (lower == root) return absl::OkStatus();
    return GraphError("storage= is keyed by a scheme as paths have it, in lower case: write ",
                      lower.substr(0, lower.size() - 3), " for \"", root.substr(0, root.size() - 3), "\"");
  }
  return GraphError(
      "storage= is keyed by a scheme of far files, such as \"s3\", or the beginning of a URL, such as "
      "\"s3://bucket/\", not by \"",
      of, "\"");
}

void StorageTable::Set(std::string of, StorageSettings settings) {
  by_beginning_.insert_or_assign(BeginningAsKept(of), std::move(settings));
}

StorageTable::Found StorageTable::For(std::string_view url) const {
  const std::pair<const std::string, StorageSettings>* longest = nullptr;
  for (const auto& entry : by_beginning_) {
    if (Begins(url, entry.first) && (longest == nullptr || entry.first.size() > longest->first.size())) {
      longest = &entry;
    }
  }
  return longest == nullptr ? Found() : Found{longest->first, longest->second};
}

StorageTable StorageTable::With(const StorageTable& over) const {
  StorageTable together = *this;
  for (const auto& [of, settings] : over.by_beginning_) together.by_beginning_.insert_or_assign(of, settings);
  return together;
}

StorageScope::StorageScope(const StorageTable& table)
    : StorageScope(std::make_shared<const StorageTable>(CurrentStorage()->With(table))) {}

StorageScope::StorageScope(std::shared_ptr<const StorageTable> of_other)
    : outer_(std::exchange(thread_storage, std::move(of_other))) {}

StorageScope::~StorageScope() { thread_storage = std::move(outer_); }

std::shared_ptr<const StorageTable> CurrentStorage() {
  static const auto* const none = new std::shared_ptr<const StorageTable>(std::make_shared<const StorageTable>());
  return thread_storage == nullptr ? *none : thread_storage;
}

}  // namespace headrace
