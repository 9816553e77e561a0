// `KeyOfOccurrence` gives the key of a row that comes again in an epoch of an order.
// Threads: a pure function.
#ifndef HEADRACE_OPS_ORDER_OCCURRENCE_KEY_H_
#define HEADRACE_OPS_ORDER_OCCURRENCE_KEY_H_

#include <cstdint>

#include "core/row_id.h"

namespace headrace {

// `level`: the orders below in which rows recur, as the second time of the first row must differ from the first time of
// a second; `occurrence`: how often the row came before in the epoch.
inline uint64_t KeyOfOccurrence(uint64_t key, uint64_t level, uint64_t occurrence) {
  // What else is mixed into keys, such as the numbers of concat's inputs, is small.
  constexpr uint64_t kOccurrence = 0x9b1f6d0c52e784a3ULL;
  return occurrence == 0 ? key : MixKey(MixKey(key, kOccurrence + level), occurrence);
}

}  // namespace headrace

#endif  // HEADRACE_OPS_ORDER_OCCURRENCE_KEY_H_
