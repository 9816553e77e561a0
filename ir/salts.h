// `GiveSalts` gives salts, the numbers that separate the random streams of operators. A salt is a hash of the
// operator's name, of its path through enclosing operators that choose among others, and of its occurrence among
// equals, inputs first; so an operator of another kind changes no salt, wherever it is added. The attribute `name` of a
// random operator pins its salt. Uses of users' functions are numbered as well.
// Threads: pure functions.
#ifndef HEADRACE_IR_SALTS_H_
#define HEADRACE_IR_SALTS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "ir/messages.h"

namespace headrace::ir {

// The attribute of every random operator that pins its salt.
inline constexpr std::string_view kNameAttribute = "name";
// The attribute that numbers the uses of users' functions of one name. They may draw though no graph says so, from
// generators that worker processes seed.
inline constexpr std::string_view kOccurrenceAttribute = "occurrence";

// Never 0. `path` names the enclosing choosers from the outermost on, "RandomChoice/RandomApply"; one whose salt is
// pinned with that name, "RandomApply=blur". Empty: there is none.
uint64_t SaltOf(std::string_view op, std::string_view path, uint64_t occurrence);
// Returns the salt of an operator with this attribute `name`.
uint64_t PinnedSalt(std::string_view name);

// Of a step that calls a user's function, "train.py:augment", which others may have, too; else empty.
std::string FunctionNameOf(const proto::Step& step);

// Gives a salt to every random operator that has none. An operator is random by declaration, or by its attribute
// `random`, which a Python function sets. Steps of one group get one salt. kGraph if two operators have one name.
// Numbers the uses of functions that have no number.
absl::Status GiveSalts(proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_SALTS_H_
