#include "io/formats/model/openvino_file.h"

#include <optional>
#include <string>
#include <utility>

#include "core/error.h"
#include "io/files/xml/xml_scanner.h"
#include "io/formats/model/entry_list.h"

namespace headrace {
namespace {

constexpr std::string_view kOutermost = "net";
// Keys that are not names in XML are attributes of an element of this name.
constexpr std::string_view kNamed = "info";

bool IsFrameworkEntry(const std::vector<std::string_view>& path) {
  return path.size() == 4 && path[0] == kOutermost && path[1] == "rt_info" && path[2] == "framework";
}

}  // namespace

bool BeginsAsOpenVino(std::string_view start) {
  XmlScanner xml(start);
  return xml.Next() == XmlEvent::kBegin && xml.path().front() == kOutermost;
}

absl::StatusOr<std::vector<ModelEntry>> ReadOpenVinoEntries(std::string_view text, WantedKey key) {
  XmlScanner xml(text);
  EntryList entries(key);
  while (true) {
    const XmlEvent event = xml.Next();
    if (event == XmlEvent::kError) return xml.status();
    if (event == XmlEvent::kDone) return entries.Take();
    if (event != XmlEvent::kBegin || !IsFrameworkEntry(xml.path())) continue;
    std::optional<std::string> name(xml.path().back());
    if (*name == kNamed) name = xml.Attribute("name").value_or(std::string(kNamed));
    std::optional<std::string> value = xml.Attribute("value");
    HEADRACE_RETURN_IF_ERROR(xml.status());
    if (value.has_value() && entries.Wants(*name)) entries.Set(*std::move(name), *std::move(value));
  }
}

}  // namespace headrace
