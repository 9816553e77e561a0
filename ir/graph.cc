#include "ir/graph.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>

#include <limits>
#include <optional>
#include <unordered_set>
#include <utility>

#include "core/error.h"
#include "core/printable.h"
#include "core/seeded_hash.h"
#include "ir/branches.h"
#include "ir/graph.pb.h"
#include "ir/graph_depth.h"
#include "ir/graph_json.h"
#include "ir/graph_text.h"
#include "ir/message_bytes.h"
#include "ir/suggestion.h"

namespace headrace::ir {
namespace {

namespace pb = google::protobuf;

std::string MadeBy(const proto::Graph& graph) {
  return graph.producer().empty() ? "" : Cat(" (the graph was made by ", graph.producer(), ")");
}

absl::Status CheckFormat(const proto::Graph& graph) {
  if (graph.format() > kFormat) {
    return GraphError("the graph has format ", graph.format(), "; this Headrace reads format ", kFormat,
                      ": upgrade Headrace", MadeBy(graph));
  }
  if (graph.format() != 0 && graph.format() < kFormat) {
    return GraphError("the graph has format ", graph.format(), ", whose operators drew other random numbers; this ",
                      "Headrace reads format ", kFormat, ": make it anew with the script that made it", MadeBy(graph));
  }
  if (graph.format() == 0)
    return GraphError("this is no Headrace graph, or it is damaged: it does not name its format");
  return absl::OkStatus();
}

// Fields in the order of their numbers.
std::string SerializeByNumber(const proto::Graph& graph) {
  std::string bytes;
  {
    pb::io::StringOutputStream stream(&bytes);
    pb::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    graph.SerializeToCodedStream(&coded);
  }
  return bytes;
}

struct UnknownField {
  uint32_t number;
  const MessageSchema* message;
};

// The first of a message, or else of those within it.
std::optional<UnknownField> FirstUnknownField(std::string_view bytes, const MessageSchema& schema) {
  for (MessageReader reader(bytes, schema); reader.Next();) {
    if (reader.field() == nullptr) return UnknownField{reader.number(), &schema};
  }
  for (MessageReader reader(bytes, schema); reader.Next();) {
    const MessageSchema* const below = reader.field()->message;
    if (below == nullptr) continue;
    const std::optional<UnknownField> found = FirstUnknownField(reader.value().bytes, *below);
    if (found.has_value()) return found;
  }
  return std::nullopt;
}

// `graph` is what was parsed from `bytes`.
absl::Status RefuseUnknownFields(std::string_view bytes, const proto::Graph& graph) {
  std::optional<UnknownField> unknown = FirstUnknownField(bytes, GraphSchema());
  // What the graph holds decides: a member of a oneof may have been replaced by a later one.
  if (unknown.has_value()) unknown = FirstUnknownField(SerializeGraph(graph), GraphSchema());
  if (!unknown.has_value()) return absl::OkStatus();
  return GraphError("field ", unknown->number, " of ", unknown->message->name,
                    " is not known to this Headrace: the graph is newer (then upgrade Headrace) or damaged",
                    MadeBy(graph));
}

absl::Status CheckVersion(const std::string& name, uint32_t version, const proto::Graph& graph) {
  const Declaration* declaration = Registry::Global().Find(name);
  if (declaration == nullptr || version <= static_cast<uint32_t>(declaration->version)) return absl::OkStatus();
  return GraphError("the graph holds version ", version, " of ", name, "; this Headrace knows versions up to ",
                    declaration->version, ": ", UpgradeOf(name), MadeBy(graph));
}

absl::Status CheckForm(std::string_view bytes, const proto::Graph& graph) {
  HEADRACE_RETURN_IF_ERROR(CheckFormat(graph));
  HEADRACE_RETURN_IF_ERROR(RefuseUnknownFields(bytes, graph));
  HEADRACE_RETURN_IF_ERROR(CheckChoosers(graph));
  return CheckVersions(graph);
}

// Names in the order of their first use.
class NamesOnce {
 public:
  template <typename Attributes>
  void AddReferences(const Attributes& attributes) {
    for (const proto::Attribute& attribute : attributes) {
      if (!attribute.value().has_reference()) continue;
      const std::string& name = attribute.value().reference().name();
      if (seen_.insert(name).second) names_.push_back(name);
    }
  }
  std::vector<std::string> Take() { return std::move(names_); }

 private:
  std::unordered_set<std::string, SeededHash> seen_;
  std::vector<std::string> names_;
};

}  // namespace

// The producer comes last whatever its number is: what is cut off anywhere lacks it (ParseSavedGraph).
std::string SerializeGraph(const proto::Graph& graph) {
  if (!graph.has_skip_failed() || graph.producer().empty()) return SerializeByNumber(graph);
  proto::Graph rest = graph;
  rest.clear_producer();
  proto::Graph last;
  last.set_producer(graph.producer());
  return SerializeByNumber(rest) + SerializeByNumber(last);
}

absl::StatusOr<proto::Graph> ParseGraph(std::string_view bytes) {
  // Keeps protobuf from writing to the user's terminal, as our error contains everything.
  const pb::LogSilencer silence;
  if (bytes.empty()) return GraphError("the graph is empty: 0 bytes");
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    return GraphError("the graph has ", bytes.size(), " bytes; graphs are far smaller than 2 GiB");
  }
  pb::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
  stream.SetRecursionLimit(kDeepestMessage);
  proto::Graph graph;
  if (!graph.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    return GraphError("this is no Headrace graph, or it is damaged: its ", bytes.size(), " bytes cannot be decoded");
  }
  HEADRACE_RETURN_IF_ERROR(CheckForm(bytes, graph));
  return graph;
}

absl::StatusOr<proto::Graph> ParseSavedGraph(std::string_view bytes) {
  HEADRACE_ASSIGN_OR_RETURN(proto::Graph graph, ParseGraph(bytes));
  if (!graph.producer().empty()) return graph;
  return GraphError("the graph is cut off after its ", bytes.size(),
                    " bytes: what was saved ends with the version that wrote it; copy or save it again");
}

std::string GraphToText(const proto::Graph& graph) { return EscapeInLiterals(WriteText(graph), Escapes::kPython); }

// Text and JSON are checked through the bytes of their graph, because text can hold what bytes cannot, such as strings
// that are not UTF-8.
absl::StatusOr<proto::Graph> ParseGraphText(std::string_view text) {
  HEADRACE_ASSIGN_OR_RETURN(const std::string bytes, ReadText(text));
  return ParseGraph(bytes);
}

std::string GraphToJson(const proto::Graph& graph) { return EscapeInLiterals(WriteJson(graph), Escapes::kJson); }

absl::StatusOr<proto::Graph> ParseGraphJson(std::string_view json) {
  HEADRACE_ASSIGN_OR_RETURN(const std::string bytes, ReadJson(json));
  return ParseGraph(bytes);
}

absl::Status CheckVersions(const proto::Graph& graph) {
  for (const proto::Node& node : graph.nodes()) {
    HEADRACE_RETURN_IF_ERROR(CheckVersion(node.op(), node.version(), graph));
    absl::Status status;
    VisitSteps(node.steps(), [&](const proto::Step& step) {
      if (status.ok()) status = CheckVersion(step.kernel(), step.version(), graph);
    });
    HEADRACE_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

std::vector<std::string> References(const proto::Graph& graph) {
  NamesOnce names;
  for (const proto::Node& node : graph.nodes()) {
    names.AddReferences(node.attributes());
    VisitSteps(node.steps(), [&](const proto::Step& step) { names.AddReferences(step.attributes()); });
  }
  return names.Take();
}

std::string LocationText(const proto::Location& location) {
  if (location.file().empty()) return "";
  const std::string file = Printable(location.file());
  return location.line() > 0 ? Cat(file, ":", location.line()) : file;
}

}  // namespace headrace::ir
