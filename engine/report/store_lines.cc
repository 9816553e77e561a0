#include "engine/report/store_lines.h"

#include <algorithm>

#include "core/printable.h"
#include "core/quantity_text.h"
#include "core/text.h"
#include "engine/report/decimal.h"

namespace headrace {
namespace {

// One of so many requests was asked to slow down, or more.
constexpr int64_t kManyThrottled = 50;

// Empty: it is not known.
std::string PriceText(double dollars) {
  if (dollars < 0) return "";
  constexpr double kCent = 0.01;
  return Cat(", $", Decimal(dollars, dollars < kCent ? 6 : 2), " at list price");
}

std::string CountsText(const StoreReport& store) {
  const StoreCounters& counters = store.counters;
  return Cat(store.name, ": ", RequestsOf(counters), " requests (", counters.reads, " reads, ", counters.lists,
             " listings, ", counters.writes, " writes), ", BytesText(counters.received), " received, ",
             counters.sent > 0 ? Cat(BytesText(counters.sent), " sent, ") : "", counters.retries, " retries, ",
             counters.hedges, " sent twice, throttled ", counters.throttled, " times, ", counters.connections,
             " connections opened", PriceText(store.price));
}

}  // namespace

bool IsThrottled(const StoreCounters& counters) {
  return counters.throttled > 0 && counters.throttled >= RequestsOf(counters) / kManyThrottled;
}

std::string RequestTimeText(const StoreReport& store) {
  const StoreCounters& counters = store.counters;
  if (IsThrottled(counters)) {
    return Cat(store.name, " asked to slow down ", counters.throttled, " times in ", RequestsOf(counters), " requests");
  }
  const auto all = static_cast<double>(counters.waiting_ns + counters.paused_ns + counters.transfer_ns);
  if (all <= 0) return "no request took time";
  const auto share = [all](int64_t ns) { return Cat(Decimal(100 * static_cast<double>(ns) / all, 0), "%"); };
  const auto requests = static_cast<double>(std::max<int64_t>(1, RequestsOf(counters)));
  return Cat("of the time of its requests, ", share(counters.waiting_ns), " was spent waiting for the first byte (",
             SecondsText(static_cast<double>(counters.waiting_ns) * 1e-9 / requests), " each), ",
             share(counters.transfer_ns), " receiving bytes, and ", share(counters.paused_ns), " waiting to be sent");
}

std::vector<std::string> StoreLines(const StoreReport& store) {
  std::vector<std::string> lines = {CountsText(store)};
  if (RequestsOf(store.counters) > 0) lines.push_back(RequestTimeText(store));
  if (store.counters.cached > 0) {
    lines.push_back(Cat(store.counters.cached, " reads (", BytesText(store.counters.cached_bytes),
                        ") were served by the object cache"));
  }
  if (!store.warning.empty()) lines.push_back(Printable(store.warning));
  return lines;
}

}  // namespace headrace
