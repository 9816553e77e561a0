#include "io/files/started_reads.h"

namespace headrace {
namespace {

thread_local StartedReads* started_here = nullptr;

}  // namespace

StartedReads::StartedReads() : outer_(started_here) { started_here = this; }

StartedReads::~StartedReads() { started_here = outer_; }

StartedReads* StartedReads::Current() { return started_here; }

void StartedReads::Add(const void* reader, uint64_t item, Entry entry) {
  entries_.emplace(std::pair(reader, item), std::move(entry));
}

StartedReads::Entry StartedReads::Take(const void* reader, uint64_t item) {
  const std::pair key(reader, item);
  const auto first = entries_.lower_bound(key);
  if (first == entries_.end() || first->first != key) return {};
  Entry entry = std::move(first->second);
  entries_.erase(first);
  return entry;
}

}  // namespace headrace
