// What a kernel has to say of a row that it makes all the same, such as a picture whose damaged data left out pixels.
// The operator that runs kernels opens a RowWarning around a row; the kernel raises it from wherever it works.
// Thread contract: made, raised, read and destroyed by one thread.
#ifndef HEADRACE_CORE_ROW_WARNING_H_
#define HEADRACE_CORE_ROW_WARNING_H_

#include <string>

namespace headrace {

class RowWarning {
 public:
  RowWarning();
  ~RowWarning();
  RowWarning(const RowWarning&) = delete;

  // Says `text` of the row that this thread works on; the first one stands. Outside of a row it is lost.
  static void Raise(std::string text);

  // "": there is nothing to say.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  RowWarning* const outer_;
};

}  // namespace headrace

#endif  // HEADRACE_CORE_ROW_WARNING_H_
