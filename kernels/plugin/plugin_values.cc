#include "kernels/plugin/plugin_values.h"

#include <utility>

#include "core/dtype.h"

namespace headrace {

PluginValues::PluginValues(absl::Span<const headrace_attribute> declared, const ir::Attributes& given) {
  for (const headrace_attribute& attribute : declared) {
    values_.push_back(ValueOf(attribute, given));
    pointers_.push_back(&values_.back());
  }
  pointers_.push_back(nullptr);
}

const char* PluginValues::Keep(std::string text) { return texts_.emplace_back(std::move(text)).c_str(); }

headrace_value PluginValues::ValueOf(const headrace_attribute& declared, const ir::Attributes& given) {
  headrace_value value = {};
  value.struct_size = sizeof(value);
  value.type = declared.type;
  const std::string_view name = declared.name;
  value.none = given.IsNone(name) ? 1 : 0;
  if (value.none != 0) return value;
  switch (declared.type) {
    case HEADRACE_ATTRIBUTE_BOOL:
      value.integer = given.Bool(name) ? 1 : 0;
      break;
    case HEADRACE_ATTRIBUTE_INT:
      value.integer = given.Int(name);
      break;
    case HEADRACE_ATTRIBUTE_FLOAT:
      value.real = given.Float(name);
      break;
    case HEADRACE_ATTRIBUTE_TEXT:
      value.text = Keep(given.String(name));
      value.count = static_cast<uint32_t>(texts_.back().size());
      break;
    case HEADRACE_ATTRIBUTE_DTYPE:
      value.integer = static_cast<int64_t>(given.Type(name));
      value.text = Keep(std::string(DTypeName(given.Type(name))));
      value.count = static_cast<uint32_t>(texts_.back().size());
      break;
    case HEADRACE_ATTRIBUTE_INTS:
      value.ints = ints_.emplace_back(given.Ints(name)).data();
      value.count = static_cast<uint32_t>(ints_.back().size());
      break;
    case HEADRACE_ATTRIBUTE_FLOATS:
      value.reals = reals_.emplace_back(given.Floats(name)).data();
      value.count = static_cast<uint32_t>(reals_.back().size());
      break;
    case HEADRACE_ATTRIBUTE_TEXTS: {
      std::vector<const char*>& list = lists_.emplace_back();
      for (std::string& text : given.Strings(name)) list.push_back(Keep(std::move(text)));
      value.count = static_cast<uint32_t>(list.size());
      list.push_back(nullptr);
      value.texts = list.data();
      break;
    }
    default:
      break;
  }
  return value;
}

}  // namespace headrace
