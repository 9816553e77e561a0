#include "core/row_id.h"

#include "core/text.h"

namespace headrace {

std::string DescribeProvenance(const Provenance& provenance) {
  std::string text = provenance.file ? *provenance.file : std::string();
  const auto append = [&text](const char* label, int64_t number) {
    if (number < 0) return;
    Append(text, text.empty() ? "" : ", ", label, " ", number);
  };
  append("record", provenance.record);
  append("byte", provenance.offset);
  return text;
}

std::string DescribeRowId(const RowId& id) { return Cat("epoch ", id.epoch, ", key ", id.key); }

}  // namespace headrace
