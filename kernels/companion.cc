#include "kernels/companion.h"

#include <vector>

#include "core/text.h"
#include "ir/salts.h"

namespace headrace {

void AddCompanion(ir::CompanionRole role, std::string_view suffix, ir::Declaration& kernel) {
  kernel.companions.push_back({role, Cat(kernel.name, suffix)});
}

ir::Declaration CompanionOf(const ir::Declaration& kernel, ir::CompanionRole role) {
  ir::Declaration companion;
  companion.name = *kernel.CompanionFor(role);
  companion.written_as = kernel.name;
  companion.version = kernel.version;
  companion.upgrade = kernel.upgrade;
  companion.attributes = kernel.attributes;
  // Registration adds these again where it draws.
  std::erase_if(companion.attributes,
                [](const ir::Attribute& each) { return each.name == "seed" || each.name == ir::kNameAttribute; });
  companion.traits.random = kernel.traits.random;
  companion.python_module = "internal";
  companion.sample.attributes = kernel.sample.attributes;
  return companion;
}

}  // namespace headrace
