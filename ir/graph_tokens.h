// `GraphTokens` divides a graph's text into tokens, as protobuf's text format has them: names, numbers, strings in
// either quotes, symbols of one character; `#` begins a comment. Threads: one thread at a time.
#ifndef HEADRACE_IR_GRAPH_TOKENS_H_
#define HEADRACE_IR_GRAPH_TOKENS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace headrace::ir {

enum class GraphTokenKind { kName, kWhole, kReal, kString, kSymbol, kEnd };

struct GraphToken {
  GraphTokenKind kind = GraphTokenKind::kEnd;
  // As written, with the quotes of a string.
  std::string_view text;
  // Where it begins, counted from 0; a tab goes to the next multiple of 8.
  int line = 0;
  int column = 0;
};

class GraphTokens {
 public:
  // The text is kept. There is no token before the first Next.
  explicit GraphTokens(std::string_view text) : text_(text) {}

  // kGraph with line and column of what is not a token.
  absl::Status Next();
  const GraphToken& current() const { return token_; }

 private:
  // The character to come; '\0' at the end, too.
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void Advance();
  template <typename Class>
  size_t AdvanceWhile(Class in_class);
  bool Take(char character);
  // Takes spaces and comments.
  void PassSpace();
  // `after_name`: directly after a name, without a space.
  absl::Status ReadToken(bool after_name);
  absl::Status ReadNumber(char first);
  absl::Status ReadString(char quote);
  absl::Status ReadEscape();
  absl::Status Wrong(std::string_view why) const;

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 0;
  int column_ = 0;
  GraphToken token_;
};

// An error at a place of the text, counted from 0.
absl::Status WrongGraphText(int line, int column, std::string_view why);

// Appends what a token of kind kString stands for; false: an escape is half of a pair of surrogates.
bool AppendGraphString(std::string_view token, std::string& text);

// Of a token of kind kWhole, decimal, octal or hexadecimal; none: it is above `most`.
std::optional<uint64_t> GraphWhole(std::string_view token, uint64_t most);

// Of a token of kind kReal, or kWhole if it is decimal.
double GraphReal(std::string_view token);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_GRAPH_TOKENS_H_
