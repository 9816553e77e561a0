#include "io/files/s3/upload_reply.h"

#include "core/error.h"
#include "io/files/xml/xml_scanner.h"
#include "io/files/xml/xml_text.h"

namespace headrace::s3 {

absl::StatusOr<std::string> UploadIdOf(std::string_view xml) {
  XmlScanner scanner(xml);
  for (XmlEvent event = scanner.Next(); event == XmlEvent::kBegin || event == XmlEvent::kEnd; event = scanner.Next()) {
    const bool is_id = event == XmlEvent::kEnd && scanner.path().size() == 2 && scanner.path()[1] == "UploadId";
    if (is_id && !scanner.text().empty()) return std::string(scanner.text());
  }
  HEADRACE_RETURN_IF_ERROR(scanner.status());
  return DataError("the reply has no id of the upload");
}

std::string CompletionOf(const std::vector<std::string>& etags) {
  std::string xml = "<CompleteMultipartUpload>";
  for (size_t i = 0; i < etags.size(); ++i) {
    Append(xml, "<Part><PartNumber>", i + 1, "</PartNumber><ETag>", EscapedXml(etags[i]), "</ETag></Part>");
  }
  xml += "</CompleteMultipartUpload>";
  return xml;
}

bool IsCompleted(std::string_view xml) {
  XmlScanner scanner(xml);
  if (scanner.Next() != XmlEvent::kBegin) return false;
  return scanner.path()[0] == "CompleteMultipartUploadResult";
}

}  // namespace headrace::s3
