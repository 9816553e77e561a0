// Fuzzes the text of a list of images: one that is good is read back as it was written.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/testing/require.h"
#include "io/formats/recordio/image_list.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using headrace::Require;
  const auto list = headrace::ParseImageList({reinterpret_cast<const char*>(data), size}, "a.lst");
  if (!list.ok()) return 0;
  std::string text;
  for (size_t i = 0; i < list->size(); ++i) {
    AppendImageListLine(list->index(i), list->labels(i), list->path(i), headrace::LabelText::kShortest, text);
  }
  const auto again = headrace::ParseImageList(text, "a.lst");
  Require(again.ok() && again->size() == list->size(), "a list is read back");
  for (size_t i = 0; i < list->size(); ++i) {
    Require(again->index(i) == list->index(i) && again->path(i) == list->path(i), "an entry is read back");
    Require(!list->path(i).empty() && !list->labels(i).empty(), "an entry has a label and a path");
    Require(again->labels(i).size() == list->labels(i).size(), "the labels are read back");
    for (size_t label = 0; label < list->labels(i).size(); ++label) {
      const float read = again->labels(i)[label];
      const float written = list->labels(i)[label];
      Require(read == written || (std::isnan(read) && std::isnan(written)), "a label is read back");
    }
  }
  return 0;
}
