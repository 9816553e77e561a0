// Parameters: numbers of steps that change from epoch to epoch. In the graph such an attribute is a reference, which
// names the parameter; its values come when the graph runs. Until then an example stands for them: of the declared type
// and within the declared bounds.
// Pure functions.
#ifndef HEADRACE_IR_PARAMETERS_H_
#define HEADRACE_IR_PARAMETERS_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/branches.h"
#include "ir/declaration.h"
#include "ir/graph.pb.h"

namespace headrace::ir {

// Whether the value is a parameter's name, and not that of a function or an array.
bool IsParameter(const Attribute& attribute, const proto::Value& value);
// Whether an attribute of the step, those of its branches apart, is a parameter. Such a step gives other results in
// each epoch, as one that draws does.
bool ReadsParameter(const proto::Step& step);
// Why a parameter cannot stand for the attribute, as CheckValue says it; empty: it can.
std::string WhyNoParameter(const Declaration& declaration, const Attribute& attribute);

// Examples of a parameter's values; two numbers give different ones where the bounds allow it.
inline constexpr int kExamples = 3;
proto::Value ExampleOf(const Attribute& attribute, int number);
// The step with example `number` for each of its parameters.
proto::Step WithExamples(const proto::Step& step, int number);

// Gives the value of the parameter of that name.
using ParameterValues = std::function<absl::StatusOr<proto::Value>(const std::string& name)>;
// Puts values in the place of all parameters, in branches too. kGraph: a value does not fit its attribute.
absl::Status PutValues(const ParameterValues& values, Steps* steps);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PARAMETERS_H_
