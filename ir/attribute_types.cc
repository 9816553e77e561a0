#include "ir/attribute_types.h"

#include "ir/graph.pb.h"

namespace headrace::ir {

AttributeTypeFacts FactsOf(AttributeType type) {
  using Value = proto::Value;
  switch (type) {
    case AttributeType::kBool:
      return {"bool", "bool", "True or False", Value::kBoolean};
    case AttributeType::kInt:
      return {"int", "int", "a whole number", Value::kInteger};
    case AttributeType::kFloat:
      return {"float", "float", "a number", Value::kReal};
    case AttributeType::kString:
      return {"string", "str", "a text", Value::kText};
    case AttributeType::kInts:
      return {"ints", "Sequence[int]", "a list of whole numbers", Value::kIntegers};
    case AttributeType::kFloats:
      return {"floats", "Sequence[float]", "a list of numbers", Value::kReals};
    case AttributeType::kStrings:
      return {"strings", "Sequence[str]", "a list of texts", Value::kTexts};
    case AttributeType::kDType:
      return {"dtype", "DType", "a dtype", Value::kText};
    case AttributeType::kPairs:
      return {"pairs", "Mapping[str, str]", "a dictionary", Value::kPairs};
    case AttributeType::kExpression:
      return {"expression", "Expression", "an expression of columns", Value::kExpression};
    case AttributeType::kColumns:
      return {"columns", "Columns", "columns with their types", Value::kColumns};
    case AttributeType::kReference:
      return {"reference", "Reference", "a function or an array", Value::kReference};
  }
  return {"?", "?", "?", Value::KIND_NOT_SET};
}

}  // namespace headrace::ir
