// `MakeFeatureColumns` makes columns from records that are messages tf.train.Example or tf.train.SequenceExample: each
// has the values of one feature, or of the steps of a feature list. `MakePayloadColumn` makes the one column of their
// bytes. Values go straight into the memory of the message's columns.
// Threads: one thread at a time.
#ifndef HEADRACE_OPS_SOURCE_TFRECORD_FEATURE_COLUMNS_H_
#define HEADRACE_OPS_SOURCE_TFRECORD_FEATURE_COLUMNS_H_

#include <memory>
#include <optional>
#include <vector>

#include "ir/type.h"
#include "ops/source/split_source.h"
#include "ops/source/tfrecord/feature_fill.h"

namespace headrace {

// Whether the CRC of a record's payload, which is after its content, is still to be checked.
enum class PayloadCrc { kCheck, kChecked };

// `fills`: for each column what stands for a feature that a record lacks; nullopt: no values, where the first axis
// differs from row to row, and otherwise an error. Errors of a record, kData: another CRC, bytes that are not such a
// message, a feature that is missing, one of another kind, or another number of values than the type has.
std::unique_ptr<RecordColumns> MakeFeatureColumns(ir::Columns columns, std::vector<std::optional<FeatureFill>> fills,
                                                  PayloadCrc crc);

std::unique_ptr<RecordColumns> MakePayloadColumn(PayloadCrc crc);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_TFRECORD_FEATURE_COLUMNS_H_
