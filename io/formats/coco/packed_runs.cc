#include "io/formats/coco/packed_runs.h"

#include <cstddef>

namespace headrace {
namespace {

// A character holds five bits of a number, the low ones first, and whether more follow.
constexpr uint8_t kFirstCharacter = '0';
constexpr int kBits = 5;
constexpr uint8_t kValue = 0x1f;
constexpr uint8_t kSign = 0x10;
constexpr uint8_t kMore = 0x20;
// Of lengths, and of their differences: more than any image has.
constexpr int kMaxShift = 50;

bool TakePacked(std::string_view& text, int64_t& number) {
  number = 0;
  for (int shift = 0; shift <= kMaxShift; shift += kBits) {
    if (text.empty()) return false;
    const auto bits = static_cast<uint8_t>(static_cast<uint8_t>(text.front()) - kFirstCharacter);
    if (bits >= 2 * kMore) return false;
    text.remove_prefix(1);
    number |= static_cast<int64_t>(bits & kValue) << shift;
    if ((bits & kMore) != 0) continue;
    if ((bits & kSign) != 0) number -= int64_t{1} << (shift + kBits);
    return true;
  }
  return false;
}

}  // namespace

bool UnpackRuns(std::string_view text, std::vector<uint64_t>& runs) {
  const size_t first = runs.size();
  while (!text.empty()) {
    int64_t run = 0;
    if (!TakePacked(text, run)) return false;
    // From the fourth on it is the difference to the run two before.
    if (runs.size() - first > 2) run += static_cast<int64_t>(runs[runs.size() - 2]);
    if (run < 0 || run > int64_t{1} << kMaxShift) return false;
    runs.push_back(static_cast<uint64_t>(run));
  }
  return true;
}

}  // namespace headrace
