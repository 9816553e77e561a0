#include "ir/listed_values.h"

#include <cmath>
#include <limits>

#include "ir/graph.pb.h"

namespace headrace::ir {
namespace {

using ListedValuesWide = __int128;

constexpr ListedValuesWide kLeast = std::numeric_limits<int64_t>::min();
constexpr ListedValuesWide kMost = std::numeric_limits<int64_t>::max();

}  // namespace

ListedValues::ListedValues(const proto::Value& list)
    : wholes_(list.integers().values().begin(), list.integers().values().end()),
      reals_(list.reals().values().begin(), list.reals().values().end()),
      texts_(list.texts().values().begin(), list.texts().values().end()) {
  for (const double real : reals_) narrow_.insert(static_cast<double>(static_cast<float>(real)));
}

bool ListedValues::HasWhole(ListedValuesWide number) const {
  if (number >= kLeast && number <= kMost && wholes_.count(static_cast<int64_t>(number)) > 0) return true;
  const auto real = static_cast<double>(number);
  return !reals_.empty() && static_cast<ListedValuesWide>(real) == number && reals_.count(real) > 0;
}

bool ListedValues::HasReal(double number) const {
  if (reals_.count(number) > 0) return true;
  constexpr double kBeyond = 0x1p63;
  const bool whole = number >= -kBeyond && number < kBeyond && std::floor(number) == number;
  return whole && wholes_.count(static_cast<int64_t>(number)) > 0;
}

bool ListedValues::HasNarrow(double number) const {
  return reals_.empty() ? HasReal(number) : narrow_.count(number) > 0;
}

}  // namespace headrace::ir
