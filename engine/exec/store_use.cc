#include "engine/exec/store_use.h"

#include <algorithm>
#include <utility>

#include "io/files/far_listings.h"

namespace headrace {

StoreUse::StoreUse(std::shared_ptr<const FarListings> listings) : listings_(std::move(listings)) {
  for (const FarListings::Store& store : listings_->stores()) begun_[store.far] = store.far->counters();
}

std::vector<StoreReport> StoreUse::reports() const {
  std::vector<StoreReport> reports;
  for (const FarListings::Store& store : listings_->stores()) {
    const auto begun = begun_.find(store.far);
    StoreReport report;
    report.name = store.root;
    report.counters = Since(store.far->counters(), begun == begun_.end() ? store.first : begun->second);
    report.price = store.far->ListPrice(report.counters);
    report.warning = store.far->Warning();
    if (RequestsOf(report.counters) + report.counters.cached > 0) reports.push_back(std::move(report));
  }
  std::stable_sort(reports.begin(), reports.end(),
                   [](const StoreReport& a, const StoreReport& b) { return a.name < b.name; });
  return reports;
}

}  // namespace headrace
