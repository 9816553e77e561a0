#include "io/formats/whole_files.h"

#include <optional>
#include <utility>

#include "core/error.h"
#include "io/files/far_of.h"
#include "io/files/started_reads.h"

namespace headrace {

int WholeFiles::most_outstanding() const { return size() == 0 ? 0 : MostOutstanding(*files_, PathOf(0)); }

std::shared_ptr<PendingFile> WholeFiles::StartOne(uint64_t item) const {
  return PendingFile::Start(*files_, PathOf(item), ListedAs(item));
}

absl::StatusOr<Tensor> WholeFiles::ReadNow(uint64_t item) const {
  HEADRACE_ASSIGN_OR_RETURN(const FileSystem::Located place, files_->Locate(PathOf(item)));
  // The machine's own files cost no more than the read, far ones end when the run does.
  if (place.files->far() == nullptr) return place.files->Read(place.path);
  return PendingFile::Start(*place.files, place.path, ListedAs(item))->Wait();
}

void WholeFiles::Start(absl::Span<const uint64_t> items) const {
  StartedReads* const started = StartedReads::Current();
  if (started == nullptr) return;
  for (const uint64_t item : items) started->Add(this, item, {StartOne(item)});
}

size_t WholeFiles::Read(absl::Span<const uint64_t> items, absl::Span<Content> contents, absl::Status& wrong) const {
  std::optional<StartedReads> own;
  if (items.size() > 1 && StartedReads::Current() == nullptr && most_outstanding() > 0) {
    own.emplace();
    Start(items);
  }
  StartedReads* const started = StartedReads::Current();
  for (size_t i = 0; i < items.size(); ++i) {
    const auto pending =
        std::static_pointer_cast<PendingFile>(started == nullptr ? nullptr : started->Take(this, items[i]).read);
    const absl::StatusOr<Tensor> read = pending == nullptr ? ReadNow(items[i]) : pending->Wait();
    if (!read.ok()) {
      wrong = read.status();
      AddErrorField(wrong, ErrorField::kFile, NameOf(items[i]));
      return i;
    }
    const std::string_view bytes = read->bytes_value();
    const bool changed = Differs(items[i], static_cast<int64_t>(bytes.size()));
    if (changed) NoteChange();
    contents[i] = {read->buffer(), bytes, changed};
  }
  return items.size();
}

}  // namespace headrace
