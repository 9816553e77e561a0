// `MakeCsvColumns` makes columns from CSV: each record is a line of a fixed number of fields, and a column has the
// values of one field, or those of consecutive fields as one row of a tensor. Numbers are written straight into the
// memory of their column.
// Threads: one thread at a time.
#ifndef HEADRACE_OPS_SOURCE_LINES_CSV_COLUMNS_H_
#define HEADRACE_OPS_SOURCE_LINES_CSV_COLUMNS_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/type.h"
#include "ops/source/class_names.h"
#include "ops/source/lines/csv_field.h"
#include "ops/source/split_source.h"

namespace headrace {

// Consecutive fields of a line.
struct CsvRun {
  static constexpr int kNoColumn = -1;

  int column = kNoColumn;  // that is made of them
  size_t fields = 1;       // of a column: as many as its shape has elements

  friend bool operator==(const CsvRun&, const CsvRun&) = default;
};

struct CsvLines {
  CsvDialect dialect;
  // All fields of a line, in order. Each column has one run.
  std::vector<CsvRun> runs;
  // For each column, what its empty fields stand for, as ReadNumber takes it, and of numbers and bools NA, NaN, N/A and
  // null, too. nullopt: nothing, which is an error of a number or a bool, and an empty text.
  std::vector<std::optional<std::string>> missing;
  // For each column, the classes whose numbers it holds in place of their names; empty: no column has any.
  ClassTables classes = {};
};

// Leaves out blank lines unless lines have one field. Supports string columns and the WithFieldType types, with static
// shapes. Records must have CsvField::kSlack bytes after them. Errors of a record, kData: another number of fields, a
// fault of CsvField, text that is not UTF-8, a field that is not of its column's type, or no class of it, or an empty
// one that stands for nothing. Fields of no column may hold anything.
std::unique_ptr<RecordColumns> MakeCsvColumns(ir::Columns columns, CsvLines lines);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_LINES_CSV_COLUMNS_H_
