#include "io/formats/model/sidecar.h"

#include <cstddef>
#include <memory>
#include <utility>

#include "core/error.h"
#include "core/printable.h"
#include "io/formats/json/json_scanner.h"
#include "io/formats/model/entry_list.h"
#include "io/formats/model/held_bytes.h"

namespace headrace {
namespace {

constexpr std::string_view kSidecarEnding = ".hrg";
constexpr size_t kSidecarBlock = size_t{64} << 10;

}  // namespace

std::string SidecarOf(std::string_view model) {
  while (model.size() > 1 && model.ends_with('/')) model.remove_suffix(1);
  return Cat(model, kSidecarEnding);
}

bool IsSidecarPath(std::string_view path) { return path.ends_with(kSidecarEnding); }

absl::StatusOr<std::vector<ModelEntry>> ReadSidecar(std::string_view text, WantedKey key) {
  JsonScanner json(std::make_unique<HeldBytes>(text), kSidecarBlock, text.size());
  EntryList entries(key);
  std::string name;
  json.EnterObject();
  while (json.NextKey(name)) {
    std::string value;
    if (json.Peek() != JsonKind::kText) json.Fail(Cat("the value of ", ShownKey(name), " is not a text"));
    json.ReadText(value);
    if (entries.Wants(name)) entries.Set(std::move(name), std::move(value));
  }
  json.AtEnd();
  if (json.ok()) return entries.Take();
  return Reworded(json.status(),
                  Cat("it does not hold entries of a model, a JSON object of texts: ", ToStd(json.status().message())));
}

std::string SidecarText(absl::Span<const ModelEntry> entries) {
  std::string text = "{";
  for (const auto& [key, value] : entries) {
    if (text.size() > 1) text.push_back(',');
    text.append(Cat("\n  ", JsonText(key), ": ", JsonText(value)));
  }
  return text + "\n}\n";
}

}  // namespace headrace
