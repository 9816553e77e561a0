#include "io/files/object_cache/part_reads.h"

#include <cstring>
#include <optional>
#include <utility>

#include "core/error.h"
#include "io/files/cancellation.h"

namespace headrace::object_cache {
namespace {

absl::Status CheckWhole(const std::string& url, const Part& part, const absl::StatusOr<int64_t>& read) {
  HEADRACE_RETURN_IF_ERROR(read.status());
  if (*read == part.bytes) return absl::OkStatus();
  return DataError(url, " changed since it was listed: it ends at byte ", part.offset + *read, ", where ",
                   part.bytes - *read, " bytes more were; list it again, in a new run");
}

absl::Status NoMemoryError(const std::string& url, int64_t bytes) {
  return ResourceError("no memory for ", bytes, " bytes of ", url);
}

void CopyRange(const BufferRef& from, int64_t offset, absl::Span<uint8_t> target) {
  if (!target.empty()) std::memcpy(target.data(), from->data() + offset, target.size());
}

absl::Span<const uint8_t> BytesIn(const BufferRef& buffer, const Part& part) {
  return {buffer->data(), static_cast<size_t>(part.bytes)};
}

}  // namespace

void PartReads::CountFound(int64_t bytes) {
  found_.fetch_add(1, std::memory_order_relaxed);
  found_bytes_.fetch_add(bytes, std::memory_order_relaxed);
}

void PartReads::Start(const PartKey& key, const Part& part, const std::string& url, OpenFar open_far, Range range) {
  FlightPtr flight;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    FlightPtr& found = flights_[key.text];
    if (found != nullptr) {
      found->waiting.push_back(std::move(range));
      return;
    }
    found = std::make_shared<Flight>(Flight{key, part, url, std::move(open_far), {}});
    found->waiting.push_back(std::move(range));
    flight = found;
  }
  threads_->Start([this, flight] { LookUp(flight); });
}

std::vector<PartReads::Range> PartReads::TakeWaiting(const FlightPtr& flight) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (flight->waiting.empty()) flights_.erase(flight->key.text);
  return std::exchange(flight->waiting, {});
}

void PartReads::LookUp(const FlightPtr& flight) {
  const std::optional<PartFile> file = folder_->Find(flight->key);
  while (file.has_value()) {
    std::vector<Range> ranges = TakeWaiting(flight);
    if (ranges.empty()) return;
    size_t given = 0;
    while (given < ranges.size() && file->Read(ranges[given].offset, ranges[given].target)) {
      CountFound(static_cast<int64_t>(ranges[given].target.size()));
      ranges[given].done(absl::OkStatus());
      ++given;
    }
    if (given == ranges.size()) continue;
    folder_->Drop(flight->key);
    const std::lock_guard<std::mutex> lock(mutex_);
    for (; given < ranges.size(); ++given) flight->waiting.push_back(std::move(ranges[given]));
    break;
  }
  Fetch(flight);
}

void PartReads::Fetch(const FlightPtr& flight) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (fetched_bytes_ > 0 && flight->part.bytes > kMostFetched - fetched_bytes_) {
      delayed_.push_back(flight);
      return;
    }
    fetched_bytes_ += flight->part.bytes;
  }
  FetchNow(flight);
}

void PartReads::FetchNow(const FlightPtr& flight) {
  const BufferRef buffer = BufferPool::Global().Allocate(static_cast<size_t>(flight->part.bytes));
  const auto file = flight->open_far();
  if (!buffer || !file.ok()) {
    Fail(flight, file.ok() ? NoMemoryError(flight->url, flight->part.bytes) : file.status());
    return;
  }
  const absl::Span<uint8_t> target(buffer->data(), static_cast<size_t>(flight->part.bytes));
  // Others wait for it than the one whose thread this may be.
  const Cancellation::Scope none(nullptr);
  (*file)->StartReadAt(flight->part.offset, target, [this, flight, buffer, keep = *file](absl::StatusOr<int64_t> read) {
    // The network's thread must not wait for the disk.
    threads_->Start([this, flight, buffer, read] { Arrived(flight, buffer, read); });
  });
}

void PartReads::Arrived(const FlightPtr& flight, const BufferRef& buffer, const absl::StatusOr<int64_t>& read) {
  if (const absl::Status whole = CheckWhole(flight->url, flight->part, read); !whole.ok()) {
    Fail(flight, whole);
    return;
  }
  // Those who wait first; those who come while the part is being kept after it.
  for (bool kept = false;; kept = true) {
    const std::vector<Range> ranges = kept ? TakeWaiting(flight) : [&] {
      const std::lock_guard<std::mutex> lock(mutex_);
      return std::exchange(flight->waiting, {});
    }();
    if (kept && ranges.empty()) break;
    for (const Range& range : ranges) {
      CopyRange(buffer, range.offset, range.target);
      range.done(absl::OkStatus());
    }
    if (!kept) folder_->Store(flight->key, BytesIn(buffer, flight->part));
  }
  EndFetch(flight);
}

void PartReads::Fail(const FlightPtr& flight, const absl::Status& error) {
  while (true) {
    const std::vector<Range> ranges = TakeWaiting(flight);
    if (ranges.empty()) break;
    for (const Range& range : ranges) range.done(error);
  }
  EndFetch(flight);
}

void PartReads::EndFetch(const FlightPtr& flight) {
  std::vector<FlightPtr> next;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    fetched_bytes_ -= flight->part.bytes;
    while (!delayed_.empty()) {
      const int64_t bytes = delayed_.front()->part.bytes;
      if (fetched_bytes_ > 0 && bytes > kMostFetched - fetched_bytes_) break;
      fetched_bytes_ += bytes;
      next.push_back(std::move(delayed_.front()));
      delayed_.pop_front();
    }
  }
  // As tasks of their own: a failed one ends here again.
  for (const FlightPtr& each : next) threads_->Start([this, each] { FetchNow(each); });
}

absl::Status PartReads::Read(const PartKey& key, const Part& part, const std::string& url, const OpenFar& open_far,
                             int64_t offset, absl::Span<uint8_t> target) {
  if (const std::optional<PartFile> file = folder_->Find(key); file.has_value()) {
    if (file->Read(offset, target)) {
      CountFound(static_cast<int64_t>(target.size()));
      return absl::OkStatus();
    }
    folder_->Drop(key);
  }
  const BufferRef buffer = BufferPool::Global().Allocate(static_cast<size_t>(part.bytes));
  if (!buffer) return NoMemoryError(url, part.bytes);
  HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const RandomAccessFile> file, open_far());
  HEADRACE_RETURN_IF_ERROR(CheckWhole(
      url, part, file->ReadAt(part.offset, absl::MakeSpan(buffer->data(), static_cast<size_t>(part.bytes)))));
  CopyRange(buffer, offset, target);
  folder_->Store(key, BytesIn(buffer, part));
  return absl::OkStatus();
}

}  // namespace headrace::object_cache
