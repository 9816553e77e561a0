#include "engine/cache/given_notes.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "core/quantity_text.h"
#include "core/text.h"

namespace headrace {
namespace {

constexpr uint64_t kUpperHalf = ~uint64_t{0} << 32;
// Files that may have a key with the same upper half, of those that are searched: keys are hashes, so that more are
// copies of one image.
constexpr int kMostFilesTried = 4;

int64_t BytesOfKeys(uint64_t notes) { return static_cast<int64_t>(notes * sizeof(uint64_t)); }

}  // namespace

void GivenNotes::Open(absl::Span<const std::string> paths, const Use& use) {
  account_ = use.account;
  const auto leave_out = [&use](const std::string& path, std::string_view why) {
    if (use.warnings != nullptr) use.warnings->Add({}, {std::make_shared<const std::string>(path), -1, -1}, why);
  };
  for (const std::string& path : paths) {
    absl::StatusOr<std::unique_ptr<const NoteFile>> file = NoteFile::Open(system_, path);
    if (!file.ok()) {
      leave_out(path, ToStd(file.status().message()));
      continue;
    }
    const uint64_t notes = notes_ + (*file)->notes();
    if (paths.size() > 1 && BytesOfKeys(notes) > use.memory) {
      leave_out(path, Cat("its entry points are left out, as the keys of those before it take most of the ",
                          BytesText(use.memory), " that they may; give the pipeline more memory"));
      continue;
    }
    notes_ = notes;
    files_.push_back(*std::move(file));
  }
  wanted_ = files_.size() > 1;
}

void GivenNotes::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  wanted_ = false;
  if (index_ == nullptr) return;
  account_->Charge(-BytesOfKeys(index_->size()));
  index_ = nullptr;
}

int64_t GivenNotes::memory_bytes() const { return files_.size() > 1 ? BytesOfKeys(notes_) : 0; }

bool GivenNotes::Find(uint64_t key, size_t most, std::string& bytes) {
  if (files_.size() == 1) return files_[0]->Find(key, most, bytes);
  const std::shared_ptr<const Index> index = IndexOfFiles();
  if (index == nullptr) return false;
  auto at = std::lower_bound(index->begin(), index->end(), key & kUpperHalf);
  for (int tried = 0; tried < kMostFilesTried; ++tried, ++at) {
    if (at == index->end() || ((*at ^ key) & kUpperHalf) != 0) return false;
    if (files_[*at & ~kUpperHalf]->Find(key, most, bytes)) return true;
  }
  return false;
}

std::shared_ptr<const GivenNotes::Index> GivenNotes::IndexOfFiles() {
  const std::lock_guard<std::mutex> lock(mutex_);
  // Where there is no memory now, it is not tried again with each row.
  if (std::exchange(wanted_, false)) index_ = ReadKeys();
  return index_;
}

std::shared_ptr<const GivenNotes::Index> GivenNotes::ReadKeys() {
  auto index = std::make_shared<Index>();
  index->reserve(notes_);
  for (uint64_t number = 0; number < files_.size(); ++number) {
    files_[number]->ForEachKey([&](uint64_t key) { index->push_back((key & kUpperHalf) | number); });
  }
  std::sort(index->begin(), index->end());
  account_->Charge(BytesOfKeys(index->size()));
  return index;
}

}  // namespace headrace
