#include "io/formats/arrow/same_types.h"

#include <string_view>
#include <utility>
#include <vector>

namespace headrace {
namespace {

using SchemaPair = std::pair<const ArrowSchema*, const ArrowSchema*>;

bool IsWhole(const ArrowSchema* schema) {
  return schema != nullptr && schema->release != nullptr && schema->format != nullptr && schema->n_children >= 0 &&
         (schema->n_children == 0 || schema->children != nullptr);
}

std::string_view NameIn(const ArrowSchema& schema) { return schema.name == nullptr ? "" : schema.name; }

}  // namespace

bool SameTypes(const ArrowSchema& a, const ArrowSchema& b) {
  std::vector<SchemaPair> open = {{&a, &b}};
  while (!open.empty()) {
    const auto [first, second] = open.back();
    open.pop_back();
    if (!IsWhole(first) || !IsWhole(second)) return false;
    if (std::string_view(first->format) != second->format || first->n_children != second->n_children) return false;
    if ((first->dictionary == nullptr) != (second->dictionary == nullptr)) return false;
    if (first->dictionary != nullptr) open.emplace_back(first->dictionary, second->dictionary);
    // The elements of lists are called as their producer likes.
    const bool named = std::string_view(first->format) == "+s";
    for (int64_t i = 0; i < first->n_children; ++i) {
      const SchemaPair children = {first->children[i], second->children[i]};
      if (!IsWhole(children.first) || !IsWhole(children.second)) return false;
      if (named && NameIn(*children.first) != NameIn(*children.second)) return false;
      open.push_back(children);
    }
  }
  return true;
}

}  // namespace headrace
