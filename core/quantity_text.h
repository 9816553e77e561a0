// `BytesText` and `SecondsText` write quantities for people: "3.0 KiB", "12.5 ms".
// Threads: pure functions.
#ifndef HEADRACE_CORE_QUANTITY_TEXT_H_
#define HEADRACE_CORE_QUANTITY_TEXT_H_

#include <cstdint>
#include <string>

namespace headrace {

std::string BytesText(int64_t bytes);
std::string SecondsText(double seconds);

}  // namespace headrace

#endif  // HEADRACE_CORE_QUANTITY_TEXT_H_
