// `RecordFactories` and `DeclareRecordReading` make what the sources of RecordIO files share: their attributes, and how
// they read, with an index or without. They differ in the columns that they make of a record, and in which records are
// rows.
// Threads: pure functions; the sources have the contracts of their kinds.
#ifndef HEADRACE_OPS_SOURCE_RECORDS_RECORD_READING_H_
#define HEADRACE_OPS_SOURCE_RECORDS_RECORD_READING_H_

#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/operator/operator.h"
#include "io/formats/recordio/record_table.h"
#include "ops/source/item_columns.h"
#include "ops/source/split_signature.h"

namespace headrace {

// How the records of a source become rows.
struct RecordRows {
  std::unique_ptr<const ItemColumns> columns;
  std::vector<int> fields;  // see ItemSource
  // Which records of a file are rows, by its index and by its bytes.
  ChooseRecords choose = ChooseAll;
  bool (*is_row)(std::string_view record) = nullptr;  // null: all are
};
using MakeRecordRows = absl::StatusOr<RecordRows> (*)(const OpArguments& arguments);

// paths, index, shuffle, interleave, sharding, split_bytes and damage.
std::vector<ir::Attribute> DeclareRecordReading();
// kGraph: no paths, or attributes that do not go together.
absl::Status CheckRecordReading(const ir::Attributes& attributes);
OpFactories RecordFactories(MakeRecordRows make);

// `own`: the parameters of one source alone.
ir::PythonSignature RecordSignature(const std::vector<SourceParameter>& own);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_RECORDS_RECORD_READING_H_
