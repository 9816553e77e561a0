#include "io/formats/whole_files.h"

#include <utility>

#include "core/error.h"

namespace headrace {

size_t WholeFiles::Read(absl::Span<const uint64_t> items, absl::Span<Content> contents, absl::Status& wrong) const {
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string path = PathOf(items[i]);
    const absl::StatusOr<Tensor> read = files_->Read(path);
    if (!read.ok()) {
      wrong = read.status();
      AddErrorField(wrong, ErrorField::kFile, NameOf(items[i]));
      return i;
    }
    const std::string_view bytes = read->bytes_value();
    const bool changed = !WasListedWith(items[i], static_cast<int64_t>(bytes.size()));
    if (changed) NoteChange();
    contents[i] = {read->buffer(), bytes, changed};
  }
  return items.size();
}

}  // namespace headrace
