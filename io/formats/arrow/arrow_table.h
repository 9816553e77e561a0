// `ArrowTable` gives the rows of several Arrow arrays, the batches of a table, by number.
// Threads: const methods from any thread.
#ifndef HEADRACE_IO_FORMATS_ARROW_ARROW_TABLE_H_
#define HEADRACE_IO_FORMATS_ARROW_ARROW_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "io/formats/arrow/arrow_batch.h"
#include "io/formats/arrow/arrow_mapping.h"
#include "io/formats/arrow/arrow_owner.h"

namespace headrace {

class ArrowTable {
 public:
  // Also looks for values that are missing, and for the axes of lists in lists. Dictionaries are numbered as the first
  // one has them. kData: an array is damaged, or a value is missing that no fill stands for.
  static absl::StatusOr<std::shared_ptr<const ArrowTable>> Of(ArrowMapping mapping,
                                                              const std::vector<HeldArrow>& arrays);

  struct Place {
    const ArrowBatch* batch;
    int64_t row;   // in the batch
    int64_t left;  // rows of the batch from there on
  };
  Place Find(uint64_t row) const;

  uint64_t rows() const { return begins_.back(); }
  const ArrowMapping& mapping() const { return mapping_; }
  // Covers names, types and values; of large tables, samples of the values.
  uint64_t Hash() const;

 private:
  explicit ArrowTable(ArrowMapping mapping) : mapping_(std::move(mapping)) {}
  absl::Status AddBatches(const std::vector<HeldArrow>& arrays);
  void FindAxes();

  ArrowMapping mapping_;  // batches point to its columns
  std::vector<ArrowBatch> batches_;
  std::vector<uint64_t> begins_ = {0};  // of the batches, and the end of the last
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_ARROW_ARROW_TABLE_H_
