// `DeliveredColumns` gives the columns of a result as users see them: a list of rows in place of the values and the
// splits that the engine has for it.
// Threads: pure functions.
#ifndef HEADRACE_IR_LIST_COLUMNS_H_
#define HEADRACE_IR_LIST_COLUMNS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/type.h"

namespace headrace::ir {

// Of a column that users get as a list of its rows, and whose splits they do not see: "boxes[splits]".
std::string ListSplitsName(std::string_view values);
// The reverse; "" for the name of anything else.
std::string_view ListOfSplits(std::string_view name);
// The number of the column of its splits; -1: the column is no list, whatever a column beside it is called.
int ListSplitsOf(const Schema& schema, std::string_view values);

struct DeliveredColumn {
  size_t column = 0;
  int splits = -1;  // for a list: the column of its splits; -1: it is none
};

std::vector<DeliveredColumn> DeliveredColumns(const Schema& schema);
// Of a column, or, for a list, with a first axis that counts its rows.
std::optional<Shape> DeliveredShape(const Schema& schema, const DeliveredColumn& column);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_LIST_COLUMNS_H_
