#include "ops/order/uniform_permutation.h"

#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "core/philox.h"

namespace headrace {
namespace {

// A permutation that is being made, or is complete.
struct Made {
  std::once_flag once;
  std::optional<UniformPermutation> permutation;
};

std::shared_ptr<Made> FindOrAdd(uint64_t size, uint64_t key) {
  // Never destroyed, because threads may outlive the end of main.
  static auto* const mutex = new std::mutex;
  static auto* const all = new std::map<std::pair<uint64_t, uint64_t>, std::weak_ptr<Made>>;
  const std::lock_guard<std::mutex> lock(*mutex);
  std::weak_ptr<Made>& found = (*all)[{size, key}];
  std::shared_ptr<Made> made = found.lock();
  if (made != nullptr) return made;
  found = made = std::make_shared<Made>();
  std::erase_if(*all, [](const auto& entry) { return entry.second.expired(); });
  return made;
}

}  // namespace

UniformPermutation::UniformPermutation(uint64_t size, uint64_t key) : key_(key), indices_(size) {
  std::iota(indices_.begin(), indices_.end(), uint16_t{0});
  RowRandom random(key, 0);
  for (uint64_t left = size; left > 1; --left) std::swap(indices_[left - 1], indices_[random.Below(left)]);
}

std::shared_ptr<const UniformPermutation> UniformPermutation::Shared(uint64_t size, uint64_t key) {
  std::shared_ptr<Made> made = FindOrAdd(size, key);
  std::call_once(made->once, [&] { made->permutation.emplace(size, key); });
  const UniformPermutation* const permutation = &*made->permutation;
  return {std::move(made), permutation};
}

}  // namespace headrace
