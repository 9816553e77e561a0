// `EscapedXml` writes text so that XML and HTML have it as it is, also in attributes. Threads: a pure function.
#ifndef HEADRACE_IO_FILES_XML_XML_TEXT_H_
#define HEADRACE_IO_FILES_XML_XML_TEXT_H_

#include <string>
#include <string_view>

namespace headrace {

// "a &lt; b"; control characters stay as they are.
std::string EscapedXml(std::string_view text);

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_XML_XML_TEXT_H_
