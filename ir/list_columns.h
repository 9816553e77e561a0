// `DeliveredColumns` gives the columns of a result as users see them: a list of rows in place of the values and the
// splits that the engine has for it.
// Threads: pure functions.
#ifndef HEADRACE_IR_LIST_COLUMNS_H_
#define HEADRACE_IR_LIST_COLUMNS_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "ir/type.h"

namespace headrace::ir {

struct DeliveredColumn {
  size_t column = 0;
  int splits = -1;  // for a list: the column of its splits; -1: it is none
};

std::vector<DeliveredColumn> DeliveredColumns(const Schema& schema);
// Of a column, or, for a list, with a first axis that counts its rows.
std::optional<Shape> DeliveredShape(const Schema& schema, const DeliveredColumn& column);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_LIST_COLUMNS_H_
