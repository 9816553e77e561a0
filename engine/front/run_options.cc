#include "engine/front/run_options.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "engine/device/device_name.h"
#include "engine/device/result_memory.h"
#include "io/files/storage_settings.h"
#include "ir/suggestion.h"

namespace headrace {
namespace {

// What the options of a device say, of which one is made once all are read.
struct GivenDevice {
  std::string name;
  std::optional<int> depth;
  int64_t memory = 0;
  std::optional<int> page_locked_of;
};

// From a scheme or the beginning of URLs to the settings that are given for it.
using GivenStorage = std::map<std::string, std::vector<std::pair<std::string, StorageValue>>, std::less<>>;

struct GivenOptions {
  IterateOptions options;
  GivenDevice device;
  GivenStorage storage;
};

template <typename T>
struct Wanted;
template <>
struct Wanted<std::string> {
  static constexpr std::string_view kText = "a text";
};
template <>
struct Wanted<std::vector<std::string>> {
  static constexpr std::string_view kText = "a list of texts";
};

// In languages whose lists of options have no truth values, 0 and 1 stand for them.
absl::Status Read(const RunOption& option, bool& target) {
  const auto* const number = std::get_if<int64_t>(&option.value);
  const bool* const truth = std::get_if<bool>(&option.value);
  if (truth == nullptr && (number == nullptr || (*number != 0 && *number != 1))) {
    return GraphError(option.name, " must be true or false");
  }
  target = truth != nullptr ? *truth : *number == 1;
  return absl::OkStatus();
}

template <typename T>
absl::Status Read(const RunOption& option, T& target) {
  const T* const value = std::get_if<T>(&option.value);
  if (value == nullptr) return GraphError(option.name, " must be ", Wanted<T>::kText);
  target = *value;
  return absl::OkStatus();
}

template <typename Integer>
absl::Status ReadInteger(const RunOption& option, Integer& target) {
  if (const auto* const large = std::get_if<uint64_t>(&option.value)) {
    if (*large > uint64_t{std::numeric_limits<Integer>::max()})
      return GraphError(option.name, " is too large: ", *large);
    target = static_cast<Integer>(*large);
    return absl::OkStatus();
  }
  const auto* const value = std::get_if<int64_t>(&option.value);
  if (value == nullptr) return GraphError(option.name, " must be an integer");
  if constexpr (std::is_unsigned_v<Integer>) {
    if (*value < 0) return GraphError(option.name, " must be 0 or more, and is ", *value);
  } else if (*value != static_cast<Integer>(*value)) {
    return GraphError(option.name, " is too ", *value < 0 ? "small: " : "large: ", *value);
  }
  target = static_cast<Integer>(*value);
  return absl::OkStatus();
}

absl::Status Read(const RunOption& option, int& target) { return ReadInteger(option, target); }
absl::Status Read(const RunOption& option, int64_t& target) { return ReadInteger(option, target); }
absl::Status Read(const RunOption& option, uint64_t& target) { return ReadInteger(option, target); }

template <typename T>
absl::Status Read(const RunOption& option, std::optional<T>& target) {
  return Read(option, target.emplace());
}

template <auto kMember>
absl::Status ReadOption(const RunOption& option, GivenOptions& given) {
  return Read(option, given.options.*kMember);
}

template <auto kMember>
absl::Status ReadDevice(const RunOption& option, GivenOptions& given) {
  return Read(option, given.device.*kMember);
}

struct Reader {
  std::string_view name;
  absl::Status (*read)(const RunOption& option, GivenOptions& given);
};

constexpr Reader kReaders[] = {
    {"seed", ReadOption<&IterateOptions::seed>},
    {"epoch", ReadOption<&IterateOptions::epoch>},
    {"endless", ReadOption<&IterateOptions::endless>},
    {"rank", ReadOption<&IterateOptions::rank>},
    {"world", ReadOption<&IterateOptions::world>},
    {"even", ReadOption<&IterateOptions::even>},
    {"state", ReadOption<&IterateOptions::state>},
    {"start", ReadOption<&IterateOptions::start>},
    {"stop", ReadOption<&IterateOptions::stop>},
    {"optimize", ReadOption<&IterateOptions::optimize>},
    {"disabled_passes", ReadOption<&IterateOptions::disabled_passes>},
    {"pull", ReadOption<&IterateOptions::pull>},
    {"workers", ReadOption<&IterateOptions::workers>},
    {"window", ReadOption<&IterateOptions::window>},
    {"group", ReadOption<&IterateOptions::group>},
    {"memory", ReadOption<&IterateOptions::memory>},
    {"cache_folder", ReadOption<&IterateOptions::cache_folder>},
    {"profile", ReadOption<&IterateOptions::profile>},
    {"failed_rows_log", ReadOption<&IterateOptions::failed_rows_log>},
    {"device", ReadDevice<&GivenDevice::name>},
    {"device_depth", ReadDevice<&GivenDevice::depth>},
    {"device_memory", ReadDevice<&GivenDevice::memory>},
    {"page_locked_of", ReadDevice<&GivenDevice::page_locked_of>},
};

// A truth value may be a number, as in other options.
absl::StatusOr<StorageValue> StorageValueOf(const RunOption& option, std::string_view key) {
  if (const auto* const number = std::get_if<int64_t>(&option.value)) {
    const bool is_truth = key == "anonymous" && (*number == 0 || *number == 1);
    return is_truth ? StorageValue(*number == 1) : StorageValue(*number);
  }
  if (const auto* const truth = std::get_if<bool>(&option.value)) return StorageValue(*truth);
  if (const auto* const text = std::get_if<std::string>(&option.value)) return StorageValue(*text);
  return GraphError(option.name, " must be a text or an integer, or true or false");
}

constexpr std::string_view kOfStorage = "storage[";

// "storage[s3://bucket/].endpoint"
absl::Status ReadStorage(const RunOption& option, GivenOptions& given) {
  const size_t end = option.name.rfind("].");
  if (end == std::string_view::npos || end <= kOfStorage.size()) {
    return GraphError("an option of storage is named storage[s3].endpoint, or storage[s3://bucket/].endpoint; got ",
                      option.name);
  }
  const std::string_view of = option.name.substr(kOfStorage.size(), end - kOfStorage.size());
  const std::string_view key = option.name.substr(end + 2);
  HEADRACE_RETURN_IF_ERROR(CheckStorageBeginning(of));
  HEADRACE_ASSIGN_OR_RETURN(StorageValue value, StorageValueOf(option, key));
  auto& settings = given.storage[std::string(of)];
  const auto same = std::find_if(settings.begin(), settings.end(), [&](const auto& each) { return each.first == key; });
  if (same == settings.end()) {
    settings.emplace_back(key, std::move(value));
  } else {
    same->second = std::move(value);
  }
  return absl::OkStatus();
}

// Null: there is none.
absl::StatusOr<std::shared_ptr<const StorageTable>> StorageOf(const GivenStorage& given) {
  if (given.empty()) return nullptr;
  auto table = std::make_shared<StorageTable>();
  for (const auto& [of, values] : given) {
    HEADRACE_ASSIGN_OR_RETURN(StorageSettings settings, StorageSettingsOf(values));
    table->Set(of, std::move(settings));
  }
  return table;
}

absl::Status ReadOne(const RunOption& option, GivenOptions& given) {
  if (option.name.substr(0, kOfStorage.size()) == kOfStorage) return ReadStorage(option, given);
  for (const Reader& reader : kReaders) {
    if (reader.name == option.name) return reader.read(option, given);
  }
  std::vector<std::string> names;
  for (const Reader& reader : kReaders) names.emplace_back(reader.name);
  return GraphError("a run has no option \"", option.name, "\"", ir::DidYouMean(option.name, names));
}

// One that is sent nothing, and from whose memory the user may send: none where the process does not use it yet.
std::optional<PlannedDevice> DeviceInUse(int number) {
  if (!HasActiveContext(number)) return std::nullopt;
  return PlannedDevice{.name = Cat("cuda:", number), .sends_from = MemoryKind::kPageLocked, .depth = 0};
}

absl::StatusOr<std::optional<PlannedDevice>> DeviceOf(const GivenDevice& given) {
  if (given.page_locked_of.has_value()) return DeviceInUse(*given.page_locked_of);
  if (given.name.empty()) return std::nullopt;
  HEADRACE_ASSIGN_OR_RETURN(const DeviceName name, ParseDeviceName(given.name));
  PlannedDevice device{.name = name.text(), .sends_from = name.sends_from()};
  device.depth = given.depth.value_or(device.depth);
  device.memory = given.memory;
  return device;
}

}  // namespace

absl::StatusOr<IterateOptions> RunOptionsOf(absl::Span<const RunOption> given) {
  GivenOptions read;
  for (const RunOption& option : given) HEADRACE_RETURN_IF_ERROR(ReadOne(option, read));
  HEADRACE_ASSIGN_OR_RETURN(read.options.device, DeviceOf(read.device));
  HEADRACE_ASSIGN_OR_RETURN(read.options.storage, StorageOf(read.storage));
  return std::move(read.options);
}

}  // namespace headrace
