// `SourceFormat` says how the files of a format are written and read, so that one battery of tests serves every format:
// any ranks, any state, any size of blocks, delayed and faulty file systems, damage at every byte, bytes that a rank
// reads. A format joins by an entry in SplitFormats() if its files are read in splits, in NumberedFormats() if its rows
// are read by number. What it must give, from the top of the struct down:
//   - the operator, and the attribute that names its files;
//   - `encode`: the bytes of a file with these records, which are texts of ASCII that are all different;
//   - `row`: how RunOperator shows the row of such a record;
//   - what its layout implies about damage, where it differs from what is said beside each member.
// Threads: pure functions, and a fixture that one thread uses.
#ifndef HEADRACE_OPS_SOURCE_TESTING_SOURCE_FORMAT_H_
#define HEADRACE_OPS_SOURCE_TESTING_SOURCE_FORMAT_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/testing/temporary_folder.h"
#include "io/formats/split_table.h"
#include "ops/testing/graph_builder.h"
#include "ops/testing/run_operator.h"

namespace headrace {

struct SourceFormat {
  using Records = std::vector<std::string>;
  // A file's number in a set of so many.
  struct InSet {
    size_t file = 0;
    size_t files = 1;
  };

  std::string name;  // in the names of tests
  std::string op;
  std::string paths;  // the attribute that names the files
  std::function<std::string(const Records& records, const InSet& place)> encode;
  std::function<std::string(const std::string& record)> row;
  GraphBuilder::Given more = {};  // the other attributes

  // ---- of formats that are read in splits ----
  PartBorders borders = {};
  bool whole_files = false;  // files are splits
  // Bytes that can be no record, in a file after whole records; empty: there are none.
  std::string damage = {};
  bool damage_is_a_row = true;  // so that it can be skipped by itself, and the next row comes

  // ---- of formats that are read by number ----
  bool keeps_items = false;  // in an index beside the file (io/formats/item_index.h)

  // ---- what changed bytes do ----
  bool checked = false;           // records have checksums: a row that comes is right
  bool in_order = true;           // what lies before a changed byte is read as before
  size_t held_back = 0;           // whole records before the changed one that are not given either
  bool cut_may_be_a_row = false;  // where a record is cut, its beginning may be one: lines

  friend void PrintTo(const SourceFormat& format, std::ostream* out) { *out << format.name; }
};

std::vector<SourceFormat> SplitFormats();
std::vector<SourceFormat> NumberedFormats();
// Some of the files that are read in splits, compressed as a whole: each of them is one split.
std::vector<SourceFormat> CompressedFormats();
std::vector<SourceFormat> AllFormats();

// For INSTANTIATE_TEST_SUITE_P.
std::string NameOfFormat(const ::testing::TestParamInfo<SourceFormat>& format);

// A folder with files of the format, f0 and so on.
class FormatTest : public ::testing::TestWithParam<SourceFormat> {
 protected:
  // Files of so many records each, which are all different and of different lengths; each has `more_bytes` more.
  void Write(const std::vector<int>& counts, size_t more_bytes = 0);
  GraphBuilder Source(GraphBuilder::Given attributes = {}) const;
  // Of a folder that has the same files elsewhere.
  GraphBuilder SourceIn(std::string_view folder, GraphBuilder::Given attributes = {}) const;
  // The rows of one rank in one epoch, pulled.
  static std::vector<std::string> TextsOf(const GraphBuilder& builder, const ShardAssignment& shard, uint64_t epoch);
  std::string PathOf(size_t file) const;

  TemporaryFolder folder_;
  std::vector<std::string> rows_;
  std::vector<std::vector<std::string>> records_;  // by file
};

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_TESTING_SOURCE_FORMAT_H_
