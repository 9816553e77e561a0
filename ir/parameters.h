// Parameters are numbers of steps that change from epoch to epoch; `PutValues` puts their values in. In the graph such
// an attribute is a reference, which names the parameter, or the list in which parameters stand among numbers; its
// values come when the graph runs. Until then an example stands for them: of the declared type and within the declared
// bounds.
// Threads: pure functions.
#ifndef HEADRACE_IR_PARAMETERS_H_
#define HEADRACE_IR_PARAMETERS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

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

// How messages call the parameter of that name: hr.parameter("strength"), and a list as it is written.
std::string ParameterText(std::string_view name);
// The parameters of the step and of those in its branches, with what they are in `made`, the same step with values in
// their place: "p is hr.parameter("w"), [0.2, 0.8]"; empty: it has none.
std::string ParametersText(const proto::Step& step, const proto::Step& made);

// Examples of a parameter's values; two numbers give different ones where the bounds allow it. `elements`: of a list
// that may have any number of them.
inline constexpr int kExamples = 3;
proto::Value ExampleOf(const Attribute& attribute, int number, int elements = 1);
// The step with example `number` for each of its parameters. Lists have an element a branch, where there are branches.
proto::Step WithExamples(const proto::Step& step, int number);

// Gives the value of the parameter of that name.
using ParameterValues = std::function<absl::StatusOr<proto::Value>(const std::string& name)>;
// Puts values in the place of all parameters, in branches too. kGraph: a value does not fit its attribute; the epoch
// whose values they are is for the message.
absl::Status PutValues(const ParameterValues& values, uint64_t epoch, Steps* steps);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PARAMETERS_H_
