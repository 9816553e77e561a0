#include "ops/source/unfinished_sets.h"

#include <charconv>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.h"

namespace headrace {
namespace {

constexpr size_t kDigits = 5;
constexpr std::string_view kOf = "-of-";
// "-00002-of-00010".
constexpr size_t kMarkBytes = 1 + kDigits + kOf.size() + kDigits;
constexpr std::string_view kJournal = ".journal";

// A name such as "train-00002-of-00010.rec".
struct SetMember {
  std::string_view stem;    // "train"
  std::string_view ending;  // ".rec"
  int64_t number;
  int64_t count;
};

std::optional<int64_t> NumberOfDigits(std::string_view digits) {
  int64_t number = 0;
  const char* const end = digits.data() + digits.size();
  // A sign is not a digit.
  if (digits.front() < '0' || digits.front() > '9') return std::nullopt;
  const auto [at, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc() || at != end) return std::nullopt;
  return number;
}

std::optional<SetMember> MemberOf(std::string_view path) {
  const size_t of = path.rfind(kOf);
  if (of == std::string_view::npos || of < 1 + kDigits) return std::nullopt;
  const size_t begin = of - kDigits - 1;
  if (path[begin] != '-' || path.size() - begin < kMarkBytes) return std::nullopt;
  const std::optional<int64_t> number = NumberOfDigits(path.substr(begin + 1, kDigits));
  const std::optional<int64_t> count = NumberOfDigits(path.substr(of + kOf.size(), kDigits));
  if (!number.has_value() || !count.has_value() || *number >= *count) return std::nullopt;
  return SetMember{path.substr(0, begin), path.substr(begin + kMarkBytes), *number, *count};
}

std::string NameOf(const SetMember& set, int64_t number) {
  const auto digits = [](int64_t value) {
    const std::string text = Cat(value);
    return std::string(kDigits - text.size(), '0') + text;
  };
  return Cat(set.stem, "-", digits(number), kOf, digits(set.count), set.ending);
}

// The files of one set that were found.
struct FoundSet {
  SetMember any;
  std::vector<int64_t> numbers;
};

absl::Status CheckSetFinished(const FileSystem& files, const FoundSet& set) {
  if (static_cast<int64_t>(set.numbers.size()) == set.any.count) return absl::OkStatus();
  const std::string journal = Cat(set.any.stem, set.any.ending, kJournal);
  if (!files.Stat(journal).ok()) return absl::OkStatus();
  std::vector<bool> found(static_cast<size_t>(set.any.count));
  for (const int64_t number : set.numbers) found[static_cast<size_t>(number)] = true;
  for (int64_t number = 0; number < set.any.count; ++number) {
    if (found[static_cast<size_t>(number)]) continue;
    const std::string member = NameOf(set.any, number);
    const absl::Status stat = files.Stat(member).status();
    if (stat.ok() || KindOf(stat) != ErrorKind::kNotFound) continue;
    return DataError(member, " is missing, and ", journal,
                     " says that the set was not written to its end: write it again, with resume=True (--resume), or "
                     "remove the journal to read the files that are there");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSetsFinished(const FileSystem& files, const PathArena& paths) {
  std::map<std::string, FoundSet, std::less<>> sets;
  for (int64_t i = 0; i < paths.size(); ++i) {
    const std::optional<SetMember> member = MemberOf(paths[i]);
    if (!member.has_value()) continue;
    FoundSet& set = sets[NameOf(*member, 0)];
    set.any = *member;
    set.numbers.push_back(member->number);
  }
  for (const auto& [name, set] : sets) HEADRACE_RETURN_IF_ERROR(CheckSetFinished(files, set));
  return absl::OkStatus();
}

}  // namespace headrace
