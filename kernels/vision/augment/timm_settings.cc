#include "kernels/vision/augment/timm_settings.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "core/error.h"

namespace headrace {
namespace {

constexpr int64_t kWeightedOperations = 15;

template <typename T>
absl::Status ReadNumber(std::string_view part, std::string_view text, T least, T greatest, T& number) {
  const std::from_chars_result read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) {
    return GraphError("the part \"", part, "\" of config ends in no ",
                      std::is_integral_v<T> ? "whole number" : "number", ": \"", text, "\"");
  }
  if (number >= least && number <= greatest) return absl::OkStatus();
  return GraphError("the number of the part \"", part, "\" of config must lie in ", least, " … ", greatest);
}

absl::Status ReadPart(std::string_view part, std::string_view key, std::string_view text, TimmSettings& settings) {
  if (key == "m") return ReadNumber<int64_t>(part, text, 0, 1000, settings.magnitude);
  if (key == "n") return ReadNumber<int64_t>(part, text, 0, 100, settings.operations);
  if (key == "p") return ReadNumber<double>(part, text, 0, 1, settings.probability);
  if (key == "mstd") return ReadNumber<double>(part, text, 0, 1e6, settings.deviation);
  if (key == "mmax") return ReadNumber<int64_t>(part, text, 1, 1000, settings.most);
  if (key != "inc") {
    return GraphError("config has an unknown part, \"", part,
                      "\"; parts are m9, n2, p0.5, mstd0.5, mmax10, inc1 and tweights");
  }
  int64_t increasing = 0;
  HEADRACE_RETURN_IF_ERROR(ReadNumber<int64_t>(part, text, 0, 1, increasing));
  settings.increasing = increasing == 1;
  return absl::OkStatus();
}

absl::Status ReadSet(std::string_view part, TimmSettings& settings) {
  settings.weighted = part == "tweights";
  if (settings.weighted) return absl::OkStatus();
  return GraphError("config has the part \"", part,
                    "\", and of timm's named sets of operations \"tweights\" alone is here; leave the part out");
}

}  // namespace

absl::StatusOr<TimmSettings> TimmSettings::Of(std::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(absl::string_view(text.data(), text.size()), '-');
  if (parts[0] != "rand") {
    return GraphError("config must begin with \"rand\", as \"rand-m9-mstd0.5-inc1\" does; it begins with \"", parts[0],
                      "\"");
  }
  TimmSettings settings;
  std::set<std::string_view> seen;
  for (const std::string_view part : absl::MakeConstSpan(parts).subspan(1)) {
    const auto digit = std::find_if(part.begin(), part.end(), absl::ascii_isdigit);
    const bool names_set = part.starts_with('t');
    const std::string_view key = names_set ? "t" : part.substr(0, digit - part.begin());
    if (!seen.insert(key).second) {
      return GraphError("config has two parts that begin with \"", key, "\"; leave one of them out");
    }
    HEADRACE_RETURN_IF_ERROR(names_set ? ReadSet(part, settings)
                                       : ReadPart(part, key, part.substr(key.size()), settings));
  }
  if (!settings.weighted || settings.operations <= kWeightedOperations) return settings;
  return GraphError("with tweights each of the ", kWeightedOperations,
                    " operations is drawn once at most, and config asks for n", settings.operations);
}

}  // namespace headrace
