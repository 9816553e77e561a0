#include "ops/source/line_reading.h"

#include <utility>

#include "core/error.h"
#include "io/formats/text/line_format.h"
#include "ops/source/file_patterns.h"

namespace headrace {

std::vector<ir::Attribute> DeclareLineReading(std::vector<ir::Attribute> own) {
  std::vector<ir::Attribute> attributes = {DeclarePatterns()};
  for (ir::Attribute& attribute : own) attributes.push_back(std::move(attribute));
  for (ir::Attribute& attribute : SplitReading::Declare()) attributes.push_back(std::move(attribute));
  return attributes;
}

OpFactories LineFactories(MakeLineColumns make) {
  return SplitFactories([make](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<StreamSource>> {
    HEADRACE_ASSIGN_OR_RETURN(MatchedFiles files,
                              MatchFiles(*arguments.run->files, arguments.node->op(), arguments.attributes));
    return std::make_unique<SplitSource>(std::make_unique<LineFormat>(), std::move(files), make(arguments), arguments);
  });
}

ir::PythonSignature LineSignature(std::string_view op, const std::vector<SourceParameter>& own,
                                  std::vector<SourceParameter> last) {
  std::vector<SourceParameter> first = {{"patterns", "patterns: str | PathLike[str] | Sequence[str | PathLike[str]]"}};
  first.insert(first.end(), own.begin(), own.end());
  first.push_back({"shuffle", "shuffle: bool = False"});
  return SplitSignature(op, {.first = std::move(first),
                             .window = "16384",
                             .window_doc = "With `shuffle`: rows are then mixed by shuffle(window); 0: they are not.",
                             .last = std::move(last)});
}

}  // namespace headrace
