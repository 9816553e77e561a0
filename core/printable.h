// `Printable` makes text of bytes from outside. Use it for every name, line and field of a file, a folder, a graph or a
// user that goes into a message, a log, a page or a table; MakeError, RowWarning and what gives texts to Python call it
// themselves. Names stay bytes where they are used as names.
//
// Written as escapes: a byte that is no part of a character ("\xff"), control characters ("\x1b", "\n", "\u0085"), ends
// of lines and paragraphs, and characters without a shape, among them those that turn the direction of writing
// ("\u202e"). A backslash stays as it is, so that a text may pass through it again unchanged.
// Threads: pure functions.
#ifndef HEADRACE_CORE_PRINTABLE_H_
#define HEADRACE_CORE_PRINTABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace headrace {

// In one line.
std::string Printable(std::string_view bytes);

// Of the first `most` bytes, cut between characters; "…" after them if there are more.
std::string PrintableStart(std::string_view bytes, size_t most);

// Keeps the ends of lines: for a text of several lines, whose names went through Printable before.
std::string PrintableLines(std::string_view text);

// A character that Printable writes as an escape.
bool IsUnprintable(uint32_t code_point);

// What a literal calls a character: Python, and protobuf's text format, "\u202e" and "\U000e0001"; JSON, "\u202e" and
// "\udb40\udc01".
enum class Escapes { kPython, kJson };
void AppendEscape(std::string& text, uint32_t code_point, Escapes escapes);

// For literals within a text in UTF-8, whose writer has escaped U+0000 to U+001F: escapes the other unprintable
// characters.
std::string EscapeInLiterals(std::string_view text, Escapes escapes);

// A literal of JSON, with its quotes, which holds the bytes exactly: a byte that is no part of a character is a lone
// surrogate ("\udcff"), as Python has it in paths, where json.loads() and os.fsencode() give it back.
std::string JsonText(std::string_view bytes);

}  // namespace headrace

#endif  // HEADRACE_CORE_PRINTABLE_H_
