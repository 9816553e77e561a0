// `RowWarning` collects a warning about a row that a kernel makes in spite of a fault, such as an image whose damaged
// data lack pixels. The operator that runs kernels opens a RowWarning around a row; the kernel raises it at any depth
// of its calls.
// Threads: made, raised, read and destroyed by one thread.
#ifndef HEADRACE_CORE_ROW_WARNING_H_
#define HEADRACE_CORE_ROW_WARNING_H_

#include <string>
#include <string_view>

namespace headrace {

class RowWarning {
 public:
  RowWarning();
  ~RowWarning();
  RowWarning(const RowWarning&) = delete;

  // Sets the warning of the row that this thread works on to `text`, made printable, unless it has one. Ignored outside
  // of a row.
  static void Raise(std::string_view text);

  // "": no warning.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  RowWarning* const outer_;
};

}  // namespace headrace

#endif  // HEADRACE_CORE_ROW_WARNING_H_
