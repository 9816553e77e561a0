#include "core/row_warning.h"

#include <utility>

#include "core/printable.h"

namespace headrace {
namespace {

thread_local RowWarning* current_row = nullptr;

}  // namespace

RowWarning::RowWarning() : outer_(std::exchange(current_row, this)) {}

RowWarning::~RowWarning() { current_row = outer_; }

void RowWarning::Raise(std::string_view text) {
  if (current_row != nullptr && current_row->text_.empty()) current_row->text_ = Printable(text);
}

}  // namespace headrace
