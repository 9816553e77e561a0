// `XmlScanner` goes once over the elements of XML and their texts. It knows no document types: entities are the five of
// XML and numbers of characters. Comments and instructions are passed over, and attributes read where they are asked
// for. Threads: one thread at a time.
#ifndef HEADRACE_IO_FILES_XML_XML_SCANNER_H_
#define HEADRACE_IO_FILES_XML_XML_SCANNER_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace headrace {

enum class XmlEvent {
  kBegin,  // of an element
  kEnd,    // of an element, whose text is complete
  kDone,   // the outermost element has ended, and nothing follows
  kError,  // status() says what is wrong, and no event follows
};

class XmlScanner {
 public:
  // Elements may lie within each other so deep.
  static constexpr size_t kMaxDepth = 64;

  // `xml` must outlive it.
  explicit XmlScanner(std::string_view xml) : xml_(xml) {}

  XmlEvent Next();
  // Names of the elements that are open, the outermost first; after kEnd with the one that ended.
  const std::vector<std::string_view>& path() const { return path_; }
  // After kEnd: its own text since its last child, without blanks around it.
  std::string_view text() const;
  // After kBegin: the value of the attribute. nullopt: the element lacks it, or its attributes are damaged, and
  // status() says so.
  std::optional<std::string> Attribute(std::string_view name);
  const absl::Status& status() const { return status_; }

 private:
  XmlEvent Fail(std::string_view what);
  // Takes an attribute off the others; false: they are damaged.
  bool TakeAttribute(std::string_view& rest, std::string_view& name, std::string_view& value);
  // Goes past `end`, which closes what was opened; false: it is missing.
  bool SkipPast(std::string_view end);
  bool TakeText();
  bool TakeEntity();
  XmlEvent TakeBegin();
  XmlEvent TakeEnd();
  // Takes "<!…" and "<?…"; false: it is not one of these, or is damaged.
  bool TakeOther();

  const std::string_view xml_;
  size_t at_ = 0;
  std::vector<std::string_view> path_;
  std::string text_;
  std::string_view attributes_;
  bool ends_ = false;    // the element that begins with "<a/>" also ends
  bool leaves_ = false;  // the last of path_ has ended
  bool any_ = false;     // an element was there
  absl::Status status_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_XML_XML_SCANNER_H_
