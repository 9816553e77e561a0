#include "io/files/xml/xml_scanner.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "core/error.h"
#include "core/utf8.h"

namespace headrace {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
// Of "&#x10ffff;", without the ampersand.
constexpr size_t kMaxEntity = 12;
constexpr std::string_view kNotAnEntity = "an entity is not one of XML's own";

bool IsInName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.' || c == ':' || static_cast<uint8_t>(c) >= 0x80;
}

// The character of "#65" or "#x41"; 0: there is none.
uint32_t NumberedCharacter(std::string_view entity) {
  entity.remove_prefix(1);
  const bool hexadecimal = entity.starts_with('x');
  if (hexadecimal) entity.remove_prefix(1);
  uint32_t code = 0;
  const auto read = std::from_chars(entity.begin(), entity.end(), code, hexadecimal ? 16 : 10);
  const bool whole = read.ec == std::errc() && read.ptr == entity.end();
  return whole && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? code : 0;
}

uint32_t EntityCharacter(std::string_view entity) {
  if (entity.starts_with('#')) return NumberedCharacter(entity);
  constexpr std::pair<std::string_view, char> kEntities[] = {
      {"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
  for (const auto& [name, character] : kEntities) {
    if (name == entity) return static_cast<uint32_t>(character);
  }
  return 0;
}

// Appends the character of the entity with which `rest` begins, and returns the bytes of the entity; 0: it is not one.
size_t AppendEntity(std::string_view rest, std::string& text) {
  const std::string_view entity = rest.substr(1, kMaxEntity);
  const size_t end = entity.find(';');
  const uint32_t character = end == std::string_view::npos ? 0 : EntityCharacter(entity.substr(0, end));
  if (character == 0) return 0;
  AppendUtf8(text, character);
  return end + 2;
}

void SkipBlanks(std::string_view& rest) { rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size())); }

}  // namespace

XmlEvent XmlScanner::Fail(std::string_view what) {
  if (status_.ok()) status_ = DataError("the XML is damaged: ", what, ", at byte ", at_);
  return XmlEvent::kError;
}

std::string_view XmlScanner::text() const {
  const std::string_view text = text_;
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

bool XmlScanner::SkipPast(std::string_view end) {
  const size_t found = xml_.find(end, at_);
  if (found == std::string_view::npos) return false;
  at_ = found + end.size();
  return true;
}

bool XmlScanner::TakeEntity() {
  const size_t bytes = AppendEntity(xml_.substr(at_), text_);
  if (bytes == 0) {
    Fail(kNotAnEntity);
    return false;
  }
  at_ += bytes;
  return true;
}

// Up to the next '<'.
bool XmlScanner::TakeText() {
  while (at_ < xml_.size() && xml_[at_] != '<') {
    if (xml_[at_] == '&') {
      if (!TakeEntity()) return false;
      continue;
    }
    const size_t end = std::min(xml_.find_first_of("<&", at_), xml_.size());
    text_.append(xml_.substr(at_, end - at_));
    at_ = end;
  }
  return true;
}

bool XmlScanner::TakeOther() {
  const std::string_view rest = xml_.substr(at_);
  if (rest.starts_with("<!--")) return SkipPast("-->");
  if (rest.starts_with("<?")) return SkipPast("?>");
  if (!rest.starts_with("<![CDATA[")) return rest.starts_with("<!DOCTYPE") && SkipPast(">");
  const size_t begin = at_ + std::string_view("<![CDATA[").size();
  if (!SkipPast("]]>")) return false;
  text_.append(xml_.substr(begin, at_ - 3 - begin));
  return true;
}

XmlEvent XmlScanner::TakeBegin() {
  const size_t begin = ++at_;
  while (at_ < xml_.size() && IsInName(xml_[at_])) ++at_;
  if (at_ == begin) return Fail("an element has no name");
  const std::string_view name = xml_.substr(begin, at_ - begin);
  // A value in quotes may hold '>'.
  char quote = 0;
  while (at_ < xml_.size() && (quote != 0 || xml_[at_] != '>')) {
    const char c = xml_[at_++];
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    }
  }
  if (at_ == xml_.size()) return Fail("an element is cut off");
  if (path_.size() == kMaxDepth) return Fail("elements lie too deep within each other");
  if (path_.empty() && std::exchange(any_, true)) return Fail("there is a second outermost element");
  ends_ = xml_[at_ - 1] == '/';
  const size_t after_name = begin + name.size();
  attributes_ = xml_.substr(after_name, at_ - (ends_ ? 1 : 0) - after_name);
  ++at_;
  path_.push_back(name);
  text_.clear();
  return XmlEvent::kBegin;
}

bool XmlScanner::TakeAttribute(std::string_view& rest, std::string_view& name, std::string_view& value) {
  name = rest.substr(0, static_cast<size_t>(std::find_if_not(rest.begin(), rest.end(), IsInName) - rest.begin()));
  rest.remove_prefix(name.size());
  SkipBlanks(rest);
  if (name.empty() || !rest.starts_with('=')) return false;
  rest.remove_prefix(1);
  SkipBlanks(rest);
  if (!rest.starts_with('"') && !rest.starts_with('\'')) return false;
  const size_t end = rest.find(rest[0], 1);
  if (end == std::string_view::npos) return false;
  value = rest.substr(1, end - 1);
  rest.remove_prefix(end + 1);
  SkipBlanks(rest);
  return true;
}

std::optional<std::string> XmlScanner::Attribute(std::string_view wanted) {
  std::string_view rest = attributes_;
  SkipBlanks(rest);
  std::string_view name;
  std::string_view value;
  while (!rest.empty()) {
    if (!TakeAttribute(rest, name, value)) {
      Fail("an attribute is damaged");
      return std::nullopt;
    }
    if (name == wanted) break;
  }
  if (name != wanted || name.empty()) return std::nullopt;
  std::string text;
  while (!value.empty()) {
    const size_t plain = std::min(value.find('&'), value.size());
    text.append(value.substr(0, plain));
    value.remove_prefix(plain);
    const size_t entity = value.empty() ? 0 : AppendEntity(value, text);
    if (!value.empty() && entity == 0) {
      Fail(kNotAnEntity);
      return std::nullopt;
    }
    value.remove_prefix(entity);
  }
  if (IsUtf8(text)) return text;
  Fail("an attribute is not UTF-8");
  return std::nullopt;
}

XmlEvent XmlScanner::TakeEnd() {
  const size_t begin = at_ + 2;
  if (!SkipPast(">")) return Fail("the end of an element is cut off");
  std::string_view name = xml_.substr(begin, at_ - 1 - begin);
  name = name.substr(0, name.find_last_not_of(kBlanks) + 1);
  if (path_.empty() || path_.back() != name) return Fail("an element ends that is not open");
  if (!IsUtf8(text_)) return Fail("a text is not UTF-8");
  leaves_ = true;
  return XmlEvent::kEnd;
}

XmlEvent XmlScanner::Next() {
  if (!status_.ok()) return XmlEvent::kError;
  if (std::exchange(leaves_, false)) {
    path_.pop_back();
    text_.clear();
  }
  if (std::exchange(ends_, false)) {
    leaves_ = true;
    return XmlEvent::kEnd;
  }
  while (TakeText()) {
    if (path_.empty()) {
      // A mark of the byte order may come first.
      const bool blank = text().empty() || (!any_ && text() == "\xef\xbb\xbf");
      if (!blank) return Fail("there is text outside of the outermost element");
      text_.clear();
    }
    if (at_ == xml_.size()) {
      return path_.empty() && any_ ? XmlEvent::kDone : Fail(any_ ? "an element is cut off" : "there is no element");
    }
    const char next = at_ + 1 < xml_.size() ? xml_[at_ + 1] : '\0';
    if (next == '/') return TakeEnd();
    if (next != '!' && next != '?') return TakeBegin();
    if (!TakeOther()) return Fail("a comment, an instruction or a text is cut off or unknown");
  }
  return XmlEvent::kError;
}

}  // namespace headrace
