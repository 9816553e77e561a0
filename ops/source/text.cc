#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/utf8.h"
#include "engine/operator/operator.h"
#include "io/formats/text/line_reader.h"
#include "ops/source/file_patterns.h"

namespace headrace {
namespace {

constexpr uint64_t kLargestFile = std::numeric_limits<int64_t>::max() / 2;

class TextSource : public StreamSource {
 public:
  TextSource(const FileSystem* system, MatchedFiles files) : system_(system), files_(std::move(files)) {}

  absl::Status Start(uint64_t epoch, absl::Span<const uint64_t> counters) override {
    if (counters[1] > static_cast<uint64_t>(files_.paths.size()) || counters[2] > kLargestFile) {
      return CounterError("had read file ", counters[1], " up to byte ", counters[2], " of ", files_.paths.size(),
                          " files");
    }
    epoch_ = epoch;
    number_ = counters[1];
    return OpenAt(counters[2]);
  }

  absl::Status Next(Block& block, absl::Span<uint64_t> counters, bool& end) override {
    end = false;
    while (reader_) {
      const uint64_t offset = reader_->offset();
      absl::StatusOr<std::optional<std::string_view>> line = reader_->Next();
      if (!line.ok()) return Located(std::move(line).status(), offset);
      if (line->has_value()) {
        counters[0] += 1;
        counters[1] = number_;
        counters[2] = reader_->offset();
        return Append(**line, offset, block);
      }
      ++number_;
      HEADRACE_RETURN_IF_ERROR(OpenAt(0));
    }
    end = true;
    return absl::OkStatus();
  }

  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override {
    fingerprints.push_back(files_.fingerprint);
  }

 private:
  // No reader: all files are read.
  absl::Status OpenAt(uint64_t offset) {
    reader_.reset();
    if (number_ >= static_cast<uint64_t>(files_.paths.size())) return absl::OkStatus();
    path_ = std::make_shared<const std::string>(files_.paths[static_cast<int64_t>(number_)]);
    absl::StatusOr<std::unique_ptr<LineReader>> reader = LineReader::Open(*system_, *path_, offset);
    if (!reader.ok()) return Located(std::move(reader).status(), offset);
    reader_ = *std::move(reader);
    return absl::OkStatus();
  }

  absl::Status Append(std::string_view line, uint64_t offset, Block& block) const {
    if (!IsUtf8(line))
      return Located(DataError("the line is not UTF-8; convert the file, or read it with Files"), offset);
    HEADRACE_ASSIGN_OR_RETURN(Tensor text, Tensor::CopyBytes(DType::kString, line));
    absl::InlinedVector<Tensor, 1> columns = {std::move(text)};
    RowId id{epoch_, MixKey(number_, offset)};
    id.changed = static_cast<int64_t>(reader_->size()) != files_.sizes[number_];
    AppendRow(block, id, {path_, -1, static_cast<int64_t>(offset)}, columns);
    return absl::OkStatus();
  }

  absl::Status Located(absl::Status status, uint64_t offset) const {
    AddErrorField(status, ErrorField::kFile, DescribeProvenance({path_, -1, static_cast<int64_t>(offset)}));
    return status;
  }

  const FileSystem* const system_;
  const MatchedFiles files_;
  uint64_t epoch_ = 0;
  uint64_t number_ = 0;  // index of the file
  std::shared_ptr<const std::string> path_;
  std::unique_ptr<LineReader> reader_;
};

const OpRegistration registration(
    {
        .name = "Text",
        .role = ir::Role::kSource,
        .summary = "Gives the lines of text files, one row each.",
        .doc =
            "Column: `line` (string), without its end (\\n or \\r\\n). Files come in byte order of their paths, each "
            "once, and must be UTF-8; a byte order mark is left out. An empty line is a row. A row's key is its "
            "file's number mixed with its byte offset. To shuffle lines, use shuffle(window).",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = {DeclarePatterns()},
        .traits = {.file_io = true},
        .example = "hr.Text(\"corpus/*.txt\")",
        .infer = [](const ir::Attributes& attributes, absl::Span<const ir::Schema>) -> absl::StatusOr<ir::Schema> {
          HEADRACE_RETURN_IF_ERROR(CheckPatterns(attributes));
          return ir::Schema{{{"line", ir::ColumnType::Of(DType::kString, {})}}};
        },
    },
    {.stream_source = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<StreamSource>> {
       const FileSystem* const system = arguments.run->files;
       HEADRACE_ASSIGN_OR_RETURN(MatchedFiles files, MatchFiles(*system, "Text", arguments.attributes));
       return std::make_unique<TextSource>(system, std::move(files));
     },
     .properties =
         [](const OpArguments& /*arguments*/, OperatorProperties& properties) {
           // Rows read, file, and byte in it.
           properties.checkpoint_counters = 3;
         }});

}  // namespace
}  // namespace headrace
