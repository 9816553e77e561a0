#include "ir/graph_text.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "core/error.h"
#include "core/printable.h"
#include "ir/graph.h"
#include "ir/graph_depth.h"
#include "ir/graph_tokens.h"
#include "ir/message_bytes.h"

namespace headrace::ir {
namespace {

void AppendQuoted(std::string& text, std::string_view value) {
  text += '"';
  for (const char c : value) {
    switch (c) {
      case '\n':
        text += "\\n";
        continue;
      case '\r':
        text += "\\r";
        continue;
      case '\t':
        text += "\\t";
        continue;
      case '"':
      case '\'':
      case '\\':
        text += '\\';
        text += c;
        continue;
      default:
        break;
    }
    if ((c >= '\0' && c < ' ') || c == '\x7f') {
      text += '\\';
      for (int shift = 6; shift >= 0; shift -= 3) text += static_cast<char>('0' + (c >> shift & 7));
    } else {
      text += c;
    }
  }
  text += '"';
}

// With 15 digits if these give the number back, else with 17.
void AppendReal(std::string& text, double real) {
  if (std::isnan(real)) return Append(text, "nan");
  if (std::isinf(real)) return Append(text, real > 0 ? "inf" : "-inf");
  char buffer[32];
  for (const int digits : {std::numeric_limits<double>::digits10, std::numeric_limits<double>::max_digits10}) {
    const char* const end = std::to_chars(buffer, std::end(buffer), real, std::chars_format::general, digits).ptr;
    double back = 0;
    std::from_chars(buffer, end, back);
    if (back != real && digits < std::numeric_limits<double>::max_digits10) continue;
    return Append(text, std::string_view(buffer, static_cast<size_t>(end - buffer)));
  }
}

void AppendScalar(std::string& text, const WireValue& value, FieldType type) {
  switch (type) {
    case FieldType::kInt32:
      return Append(text, static_cast<int32_t>(value.number));
    case FieldType::kUint32:
      return Append(text, static_cast<uint32_t>(value.number));
    case FieldType::kInt64:
      return Append(text, static_cast<int64_t>(value.number));
    case FieldType::kUint64:
      return Append(text, value.number);
    case FieldType::kDouble:
      return AppendReal(text, std::bit_cast<double>(value.number));
    case FieldType::kBool:
      return Append(text, value.number != 0 ? "true" : "false");
    case FieldType::kString:
      return AppendQuoted(text, value.bytes);
    case FieldType::kMessage:
      break;
  }
}

void AppendMessage(std::string& text, std::string_view bytes, const MessageSchema& schema, size_t depth) {
  for (MessageReader reader(bytes, schema); reader.Next();) {
    const FieldSchema* const field = reader.field();
    if (field == nullptr) continue;
    text.append(2 * depth, ' ');
    text += field->name;
    if (field->message != nullptr) {
      text += " {\n";
      AppendMessage(text, reader.value().bytes, *field->message, depth + 1);
      text.append(2 * depth, ' ');
      text += "}\n";
    } else {
      text += ": ";
      AppendScalar(text, reader.value(), field->type);
      text += '\n';
    }
  }
}

// Reads a message after the other, those within it, too: it keeps what is open itself.
class GraphTextReader {
 public:
  explicit GraphTextReader(std::string_view text) : tokens_(text) { open_.push_back({.schema = &GraphSchema()}); }

  absl::StatusOr<std::string> Read() {
    HEADRACE_RETURN_IF_ERROR(tokens_.Next());
    while (open_.size() > 1 || tokens_.current().kind != GraphTokenKind::kEnd) {
      const bool closes = open_.size() > 1 && (IsAt("}") || IsAt(">"));
      HEADRACE_RETURN_IF_ERROR(closes ? CloseMessage() : ReadField());
    }
    return writer_.Take();
  }

 private:
  // A message whose end was not read yet.
  struct Open {
    const MessageSchema* schema = nullptr;
    // Its field in the message around it, and whether it is within brackets there.
    const FieldSchema* field = nullptr;
    bool listed = false;
    std::string_view close = "";
    // Its fields that are not lists and have a value.
    std::vector<const FieldSchema*> given = {};
  };

  bool IsAt(std::string_view text) const { return tokens_.current().text == text; }
  bool IsAt(GraphTokenKind kind) const { return tokens_.current().kind == kind; }
  // What the token is, cut off if it is long.
  std::string Shown() const {
    constexpr size_t kMost = 60;
    return PrintableStart(tokens_.current().text, kMost);
  }
  absl::Status Wrong(std::string_view why) const {
    return WrongGraphText(tokens_.current().line, tokens_.current().column, why);
  }
  absl::Status Expected(std::string_view what) const { return Wrong(Cat("Expected ", what, ", got: ", Shown())); }

  absl::Status Take(std::string_view text) {
    if (!IsAt(text)) return Wrong(Cat("Expected \"", text, "\", found \"", Shown(), "\"."));
    return tokens_.Next();
  }
  absl::StatusOr<bool> TakeIf(std::string_view text) {
    if (!IsAt(text)) return false;
    HEADRACE_RETURN_IF_ERROR(tokens_.Next());
    return true;
  }

  absl::Status ReadField() {
    // Where protobuf has the names of extensions.
    if (IsAt("[")) return Wrong("the name of a field has no brackets");
    if (!IsAt(GraphTokenKind::kName)) return Expected("identifier");
    const std::string_view name = tokens_.current().text;
    HEADRACE_RETURN_IF_ERROR(tokens_.Next());
    const MessageSchema& schema = *open_.back().schema;
    const FieldSchema* const field = schema.Find(name);
    if (field == nullptr) {
      return Wrong(Cat("Message type \"", schema.full_name, "\" has no field named \"", name.substr(0, 60), "\"."));
    }
    HEADRACE_RETURN_IF_ERROR(CheckNotGiven(*field));
    if (field->type != FieldType::kMessage) {
      HEADRACE_RETURN_IF_ERROR(Take(":"));
    } else {
      HEADRACE_RETURN_IF_ERROR(TakeIf(":").status());
    }
    if (field->repeated && IsAt("[")) return ReadList(*field);
    if (field->type == FieldType::kMessage) return OpenMessage(*field, /*listed=*/false);
    HEADRACE_RETURN_IF_ERROR(ReadValue(*field));
    return EndField();
  }

  absl::Status CheckNotGiven(const FieldSchema& field) const {
    for (const FieldSchema* const given : open_.back().given) {
      if (given == &field) return Wrong(Cat("Non-repeated field \"", field.name, "\" is specified multiple times."));
      if (!field.choice.empty() && given->choice == field.choice) {
        return Wrong(Cat("Field \"", field.name, "\" is specified along with field \"", given->name,
                         "\", another member of oneof \"", field.choice, "\"."));
      }
    }
    return absl::OkStatus();
  }

  void NoteGiven(const FieldSchema& field, bool zero) {
    if (!field.repeated && (field.explicit_presence || !zero)) open_.back().given.push_back(&field);
  }

  // A comma or a semicolon may be between fields.
  absl::Status EndField() { return IsAt(";") || IsAt(",") ? tokens_.Next() : absl::OkStatus(); }

  absl::Status ReadList(const FieldSchema& field) {
    HEADRACE_RETURN_IF_ERROR(Take("["));
    HEADRACE_ASSIGN_OR_RETURN(bool ended, TakeIf("]"));
    if (!ended && field.type == FieldType::kMessage) return OpenMessage(field, /*listed=*/true);
    while (!ended) {
      HEADRACE_RETURN_IF_ERROR(ReadValue(field));
      HEADRACE_ASSIGN_OR_RETURN(ended, TakeIf("]"));
      if (!ended) HEADRACE_RETURN_IF_ERROR(Take(","));
    }
    return EndField();
  }

  absl::Status OpenMessage(const FieldSchema& field, bool listed) {
    const bool angle = IsAt("<");
    HEADRACE_RETURN_IF_ERROR(Take(angle ? "<" : "{"));
    if (open_.size() > static_cast<size_t>(kDeepestMessage)) return Wrong("it is nested too deeply");
    NoteGiven(field, /*zero=*/false);
    open_.push_back({.schema = field.message, .field = &field, .listed = listed, .close = angle ? ">" : "}"});
    writer_.Begin(field);
    return absl::OkStatus();
  }

  absl::Status CloseMessage() {
    HEADRACE_RETURN_IF_ERROR(Take(open_.back().close));
    const FieldSchema& field = *open_.back().field;
    const bool listed = open_.back().listed;
    open_.pop_back();
    writer_.End();
    if (!listed) return EndField();
    HEADRACE_ASSIGN_OR_RETURN(const bool ended, TakeIf("]"));
    if (ended) return EndField();
    HEADRACE_RETURN_IF_ERROR(Take(","));
    return OpenMessage(field, /*listed=*/true);
  }

  absl::Status ReadValue(const FieldSchema& field) {
    if (field.type == FieldType::kString) return ReadString(field);
    HEADRACE_ASSIGN_OR_RETURN(const uint64_t number, ReadNumber(field));
    NoteGiven(field, number == 0);
    writer_.PutNumber(field, number);
    return absl::OkStatus();
  }

  // Strings that follow each other are one.
  absl::Status ReadString(const FieldSchema& field) {
    if (!IsAt(GraphTokenKind::kString)) return Expected("string");
    std::string value;
    while (IsAt(GraphTokenKind::kString)) {
      if (!AppendGraphString(tokens_.current().text, value)) return Wrong("an escape is half of a surrogate pair");
      HEADRACE_RETURN_IF_ERROR(tokens_.Next());
    }
    NoteGiven(field, value.empty());
    writer_.PutText(field, value);
    return absl::OkStatus();
  }

  absl::StatusOr<uint64_t> ReadNumber(const FieldSchema& field) {
    switch (field.type) {
      case FieldType::kInt32:
        return ReadSigned(std::numeric_limits<int32_t>::max());
      case FieldType::kUint32:
        return ReadWhole(std::numeric_limits<uint32_t>::max());
      case FieldType::kInt64:
        return ReadSigned(std::numeric_limits<int64_t>::max());
      case FieldType::kBool:
        return ReadBool(field);
      case FieldType::kDouble:
        return ReadReal();
      default:
        return ReadWhole(std::numeric_limits<uint64_t>::max());
    }
  }

  absl::StatusOr<uint64_t> ReadWhole(uint64_t most) {
    if (!IsAt(GraphTokenKind::kWhole)) return Expected("integer");
    const std::optional<uint64_t> whole = GraphWhole(tokens_.current().text, most);
    if (!whole.has_value()) return Wrong(Cat("Integer out of range (", Shown(), ")"));
    HEADRACE_RETURN_IF_ERROR(tokens_.Next());
    return *whole;
  }

  // As the bits of an int64_t.
  absl::StatusOr<uint64_t> ReadSigned(uint64_t most) {
    HEADRACE_ASSIGN_OR_RETURN(const bool negative, TakeIf("-"));
    HEADRACE_ASSIGN_OR_RETURN(const uint64_t whole, ReadWhole(negative ? most + 1 : most));
    return negative ? -whole : whole;
  }

  absl::StatusOr<uint64_t> ReadBool(const FieldSchema& field) {
    if (IsAt(GraphTokenKind::kWhole)) return ReadWhole(1);
    if (!IsAt(GraphTokenKind::kName)) return Expected("identifier");
    const std::string value = Shown();
    HEADRACE_RETURN_IF_ERROR(tokens_.Next());
    if (value == "true" || value == "True" || value == "t") return 1;
    if (value == "false" || value == "False" || value == "f") return 0;
    return Wrong(Cat("Invalid value for boolean field \"", field.name, "\". Value: \"", value, "\"."));
  }

  // Its bits.
  absl::StatusOr<uint64_t> ReadReal() {
    HEADRACE_ASSIGN_OR_RETURN(const bool negative, TakeIf("-"));
    HEADRACE_ASSIGN_OR_RETURN(const double real, RealOfToken());
    HEADRACE_RETURN_IF_ERROR(tokens_.Next());
    return std::bit_cast<uint64_t>(negative ? -real : real);
  }

  absl::StatusOr<double> RealOfToken() const {
    const std::string_view text = tokens_.current().text;
    if (IsAt(GraphTokenKind::kReal)) return GraphReal(text);
    if (IsAt(GraphTokenKind::kWhole)) {
      const bool decimal = text.size() == 1 || text[0] != '0';
      return decimal ? absl::StatusOr<double>(GraphReal(text)) : Wrong(Cat("Expect a decimal number, got: ", Shown()));
    }
    if (!IsAt(GraphTokenKind::kName)) return Expected("double");
    const std::string name = absl::AsciiStrToLower(Shown());
    if (name == "inf" || name == "infinity") return std::numeric_limits<double>::infinity();
    if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
    return Wrong(Cat("Expected double, got: ", name));
  }

  GraphTokens tokens_;
  MessageWriter writer_;
  std::vector<Open> open_;
};

}  // namespace

std::string WriteText(const proto::Graph& graph) {
  std::string text;
  AppendMessage(text, SerializeGraph(graph), GraphSchema(), 0);
  return text;
}

absl::StatusOr<std::string> ReadText(std::string_view text) { return GraphTextReader(text).Read(); }

}  // namespace headrace::ir
