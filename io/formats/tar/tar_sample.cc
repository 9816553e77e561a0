#include "io/formats/tar/tar_sample.h"

#include <optional>

#include "core/error.h"
#include "io/formats/tar/tar_member.h"
#include "io/formats/tar/tar_name.h"

namespace headrace {

void TarSample::Begin(std::string_view bytes, int64_t offset) {
  bytes_ = bytes;
  offset_ = offset;
  at_ = 0;
  has_key_ = false;
}

absl::StatusOr<bool> TarSample::Next(Field& field) {
  while (at_ < bytes_.size()) {
    const absl::Span<const uint8_t> rest(reinterpret_cast<const uint8_t*>(bytes_.data()) + at_, bytes_.size() - at_);
    TarMember member;
    HEADRACE_ASSIGN_OR_RETURN(const TarStep step,
                              ParseTarMember(rest, offset_ + static_cast<int64_t>(at_), member, joined_));
    if (step.kind != TarStep::Kind::kMember || member.end > static_cast<int64_t>(rest.size())) return NotASample();
    const std::string_view data =
        bytes_.substr(at_ + static_cast<size_t>(member.data), static_cast<size_t>(member.size));
    at_ += static_cast<size_t>(member.end);
    const std::optional<TarName> name = member.regular ? TarNameOf(member.path) : std::nullopt;
    if (!name.has_value()) continue;
    if (has_key_ && name->key != key_) return NotASample();
    if (!has_key_) key_ = name->key;
    has_key_ = true;
    field = {name->field, data};
    return true;
  }
  if (has_key_) return false;
  return NotASample();
}

absl::Status TarSample::NotASample() const {
  return DataError("the bytes from byte ", offset_, " to byte ", offset_ + static_cast<int64_t>(bytes_.size()),
                   " are not one sample, as they were before: the file was changed, or its index is another file's");
}

}  // namespace headrace
