// `StoreUse` tells what a run had far stores do: the difference between what they have counted and what they had when
// the run began, or when it first used them. Stores count for the whole process, so runs at the same time that use one
// store see each other's requests. Threads: any thread.
#ifndef HEADRACE_ENGINE_EXEC_STORE_USE_H_
#define HEADRACE_ENGINE_EXEC_STORE_USE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/files/far_files.h"

namespace headrace {

class FarListings;

struct StoreReport {
  std::string name;  // "s3://"
  StoreCounters counters;
  double price = -1;    // US dollars at list price; below 0: not known
  std::string warning;  // FarFiles::Warning
};

class StoreUse {
 public:
  // Of a run that begins now and reads files over `listings`, which is not null.
  explicit StoreUse(std::shared_ptr<const FarListings> listings);

  // By name; without stores that were not asked for anything.
  std::vector<StoreReport> reports() const;

 private:
  const std::shared_ptr<const FarListings> listings_;
  std::map<const FarFiles*, StoreCounters> begun_;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_STORE_USE_H_
