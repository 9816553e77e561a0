// `Attributes` holds the attribute values of one node or step. After validation every declared attribute is present
// with its declared type, so the getters need no error path (a missing name is a bug and aborts with a message).
// Threads: a value; immutable once made.
#ifndef HEADRACE_IR_ATTRIBUTES_H_
#define HEADRACE_IR_ATTRIBUTES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/dtype.h"
#include "ir/messages.h"
#include "ir/type.h"

namespace headrace::ir {

// A number as it was given: for attributes that keep whole numbers whole.
using Number = std::variant<int64_t, double>;

class Attributes {
 public:
  Attributes() = default;
  // Takes the values of a proto unchanged.
  static Attributes Of(const proto::Node& node);
  static Attributes Of(const proto::Step& step);

  bool IsNone(std::string_view name) const;
  bool Bool(std::string_view name) const;
  int64_t Int(std::string_view name) const;
  double Float(std::string_view name) const;
  const std::string& String(std::string_view name) const;
  std::vector<int64_t> Ints(std::string_view name) const;
  std::vector<double> Floats(std::string_view name) const;
  ir::Number Number(std::string_view name) const;
  std::vector<ir::Number> Numbers(std::string_view name) const;
  std::vector<std::string> Strings(std::string_view name) const;
  // The bytes of paths, or of names of folders, which the graph holds as texts (core/path_text.h).
  std::string Path(std::string_view name) const;
  std::vector<std::string> Paths(std::string_view name) const;
  DType Type(std::string_view name) const;
  std::vector<std::pair<std::string, std::string>> Pairs(std::string_view name) const;
  // With the keys as Path gives them.
  std::vector<std::pair<std::string, std::string>> PathPairs(std::string_view name) const;
  const proto::Expression& Expr(std::string_view name) const;
  Schema Columns(std::string_view name) const;
  const std::string& ReferenceName(std::string_view name) const;

  void Set(std::string name, proto::Value value);
  const proto::Value* Find(std::string_view name) const;

 private:
  // By name; not here, as every kernel includes this header.
  struct Values;
  template <typename Entries>
  static Attributes OfEntries(const Entries& entries);

  std::shared_ptr<const Values> values_;  // null: none
};

}  // namespace headrace::ir

#endif  // HEADRACE_IR_ATTRIBUTES_H_
