#include "ir/testing/fake_ops.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>

#include "core/error.h"
#include "ir/attributes.h"
#include "ir/canonical.h"
#include "ir/declaration.h"
#include "ir/expression.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/salts.h"
#include "ir/suggestion.h"

namespace headrace::ir {
namespace {

const Schema& ImageColumns() {
  static const Schema schema = {{{"image", ColumnType::Of(DType::kUInt8, {kUnknownDim, kUnknownDim, 3})},
                                 {"label", ColumnType::Of(DType::kInt32, {})},
                                 {"path", ColumnType::Of(DType::kString, {})},
                                 {"big", ColumnType::Of(DType::kFloat32, {1000})}}};
  return schema;
}

absl::StatusOr<Schema> Project(const Schema& schema, const std::vector<std::string>& names) {
  Schema result;
  for (const std::string& name : names) {
    HEADRACE_ASSIGN_OR_RETURN(const Column* column, FindColumn(schema, name));
    result.columns.push_back(*column);
  }
  return result;
}

absl::StatusOr<Schema> InferImages(const Attributes& attributes, absl::Span<const Schema>) {
  if (attributes.IsNone("columns")) return Project(ImageColumns(), {"image", "label"});
  return Project(ImageColumns(), attributes.Strings("columns"));
}

absl::StatusOr<Schema> InferBatch(const Attributes&, absl::Span<const Schema> inputs) {
  Schema result = inputs[0];
  for (size_t i = 0; i < result.columns.size(); ++i) {
    std::optional<Shape>& shape = result.columns.type(i).shape;
    if (shape.has_value()) shape->insert(shape->begin(), kUnknownDim);
  }
  return result;
}

absl::StatusOr<Schema> InferZip(const Attributes&, absl::Span<const Schema> inputs) {
  Schema result;
  for (const Schema& input : inputs) {
    for (const Column& column : input.columns) {
      if (result.Find(column.name) != nullptr) return GraphError("two inputs have a column \"", column.name, "\"");
      result.columns.push_back(column);
    }
  }
  return result;
}

absl::StatusOr<Schema> InferRename(const Attributes& attributes, absl::Span<const Schema> inputs) {
  std::map<std::string, std::string> names;
  for (const auto& [from, to] : attributes.Pairs("mapping")) {
    HEADRACE_RETURN_IF_ERROR(FindColumn(inputs[0], from).status());
    names[from] = to;
  }
  Schema result;
  for (const Column& column : inputs[0].columns) {
    const auto renamed = names.find(column.name);
    result.columns.push_back({renamed == names.end() ? column.name : renamed->second, column.type});
  }
  return result;
}

absl::StatusOr<Schema> InferFilter(const Attributes& attributes, absl::Span<const Schema> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(ColumnType type, InferExpression(attributes.Expr("predicate"), inputs[0]));
  if (type.dtype != DType::kBool && type.dtype != DType::kUnknown) {
    return GraphError("predicate gives ", TypeName(type), "; it must give a bool");
  }
  return inputs[0];
}

std::vector<ColumnSet> FilterReads(const Attributes& attributes, absl::Span<const Schema> inputs,
                                   const ColumnSet& wanted) {
  std::vector<ColumnSet> reads = PassesColumns()(attributes, inputs, wanted);
  reads[0].merge(ExpressionColumns(attributes.Expr("predicate")));
  return reads;
}

absl::StatusOr<std::vector<ColumnType>> InferResize(const Attributes& attributes, absl::Span<const ColumnType> inputs) {
  const ColumnType& image = inputs[0];
  if (image.shape.has_value() && image.shape->size() != 3) {
    return GraphError("takes an image of shape (height, width, channels), not ", TypeName(image));
  }
  const std::vector<int64_t> size = attributes.Ints("size");
  const int64_t channels = image.shape.has_value() ? (*image.shape)[2] : kUnknownDim;
  return std::vector<ColumnType>{ColumnType::Of(image.dtype, {size[0], size[1], channels})};
}

bool ResizesToSame(const Attributes& attributes, absl::Span<const ColumnType> inputs) {
  const std::vector<int64_t> size = attributes.Ints("size");
  return inputs[0].shape.has_value() && (*inputs[0].shape)[0] == size[0] && (*inputs[0].shape)[1] == size[1];
}

absl::StatusOr<std::vector<ColumnType>> SameType(const Attributes&, absl::Span<const ColumnType> inputs) {
  return std::vector<ColumnType>{inputs[0]};
}

Declaration Source(std::string name, InferOp infer) {
  Declaration source;
  source.name = std::move(name);
  source.role = Role::kSource;
  source.min_inputs = source.max_inputs = 0;
  source.traits.indexed = true;
  source.infer = std::move(infer);
  return source;
}

Declaration Stream(std::string name) {
  Declaration op;
  op.name = std::move(name);
  op.role = Role::kStream;
  op.infer = PassesSchema();
  op.reads = PassesColumns();
  return op;
}

Attribute Count(std::string name) { return {.name = std::move(name), .doc = "How many.", .minimum = 1}; }

void DeclareSources() {
  Registry& registry = Registry::Global();
  Declaration pictures = Source("pictures", InferImages);
  pictures.attributes = {{.name = "columns",
                          .type = AttributeType::kStrings,
                          .doc = "Which columns.",
                          .default_value = "None",
                          .nullable = true,
                          .chooses_columns = true}};
  RequireRegistered(registry.Register(pictures));
  Declaration fixed = Source("fixed", [](const Attributes&, absl::Span<const Schema>) -> absl::StatusOr<Schema> {
    return Project(ImageColumns(), {"image", "label"});
  });
  fixed.most_rows = [](const Attributes&, absl::Span<const std::optional<uint64_t>>) {
    return std::optional<uint64_t>(3);
  };
  RequireRegistered(registry.Register(fixed));
  Declaration encoded = Source("encoded", [](const Attributes&, absl::Span<const Schema>) -> absl::StatusOr<Schema> {
    return Schema{{{"image", ColumnType::Of(DType::kBytes, {})}, {"label", ColumnType::Of(DType::kInt32, {})}}};
  });
  RequireRegistered(registry.Register(encoded));
  Declaration numbers = Source("numbers", [](const Attributes&, absl::Span<const Schema>) -> absl::StatusOr<Schema> {
    return Schema{{{"value", ColumnType::Of(DType::kInt64, {})}, {"square", ColumnType::Of(DType::kInt64, {})}}};
  });
  numbers.attributes = {
      {.name = "stop", .doc = "The first number left out.", .default_value = "10", .minimum = 0, .maximum = 1e9}};
  RequireRegistered(registry.Register(numbers));
}

void DeclareOps() {
  Registry& registry = Registry::Global();
  Declaration map = Stream(std::string(kMapOp));
  map.role = Role::kRow;
  map.traits.one_to_one = true;
  map.attributes = {{.name = "workers",
                     .doc = "At most so many rows at once.",
                     .default_value = "None",
                     .nullable = true,
                     .minimum = 1,
                     .tuning = true}};
  RequireRegistered(registry.Register(map));
  Declaration batch = Stream("batch");
  batch.infer = InferBatch;
  batch.attributes = {Count("size"),
                      {.name = "drop_remainder", .type = AttributeType::kBool, .doc = "?", .default_value = "False"}};
  RequireRegistered(registry.Register(batch));
  Declaration shuffle = Stream("shuffle");
  shuffle.traits = {.random = true, .one_to_one = true, .by_position = true};
  shuffle.attributes = {Count("window")};
  RequireRegistered(registry.Register(shuffle));
  Declaration take = Stream("take");
  take.traits = {.indexed = true, .by_position = true};
  take.attributes = {Count("count")};
  take.most_rows = [](const Attributes& attributes, absl::Span<const std::optional<uint64_t>> inputs) {
    const auto count = static_cast<uint64_t>(attributes.Int("count"));
    return std::optional(std::min(count, inputs[0].value_or(count)));
  };
  take.is_identity = [](const Attributes& attributes, absl::Span<const Schema>,
                        absl::Span<const std::optional<uint64_t>> most_rows) {
    return most_rows[0].has_value() && *most_rows[0] <= static_cast<uint64_t>(attributes.Int("count"));
  };
  RequireRegistered(registry.Register(take));
  Declaration skip = Stream("skip");
  skip.traits = {.indexed = true, .by_position = true};
  skip.attributes = {{.name = "count", .doc = "How many.", .minimum = 0}};
  skip.most_rows = NoMoreRows();
  skip.is_identity = [](const Attributes& attributes, absl::Span<const Schema>,
                        absl::Span<const std::optional<uint64_t>>) { return attributes.Int("count") == 0; };
  RequireRegistered(registry.Register(skip));
  Declaration project = Stream("project");
  project.role = Role::kRow;
  project.traits = {.one_to_one = true, .light = true};
  project.is_identity = [](const Attributes& attributes, absl::Span<const Schema> inputs,
                           absl::Span<const std::optional<uint64_t>>) {
    return attributes.Strings("columns") == inputs[0].Names();
  };
  project.attributes = {{.name = "columns", .type = AttributeType::kStrings, .doc = "Which.", .chooses_columns = true}};
  project.infer = [](const Attributes& attributes, absl::Span<const Schema> inputs) {
    return Project(inputs[0], attributes.Strings("columns"));
  };
  project.reads = [](const Attributes& attributes, absl::Span<const Schema>, const ColumnSet& wanted) {
    ColumnSet reads;
    for (const std::string& name : attributes.Strings("columns")) reads.insert(name);
    (void)wanted;
    return std::vector<ColumnSet>{reads};
  };
  RequireRegistered(registry.Register(project));
  Declaration rename = Stream("rename");
  rename.role = Role::kRow;
  rename.traits = {.one_to_one = true, .light = true};
  rename.attributes = {{.name = "mapping", .type = AttributeType::kPairs, .doc = "Old to new."}};
  rename.infer = InferRename;
  rename.reads = nullptr;
  rename.is_identity = [](const Attributes& attributes, absl::Span<const Schema>,
                          absl::Span<const std::optional<uint64_t>>) {
    const auto pairs = attributes.Pairs("mapping");
    return std::all_of(pairs.begin(), pairs.end(), [](const auto& pair) { return pair.first == pair.second; });
  };
  RequireRegistered(registry.Register(rename));
  Declaration repeat = Stream("repeat");
  repeat.traits = {.light = true, .repeats = true};
  repeat.attributes = {Count("count")};
  RequireRegistered(registry.Register(repeat));
  Declaration filter = Stream("filter");
  filter.role = Role::kRow;
  filter.traits.selects = true;
  filter.is_identity = [](const Attributes& attributes, absl::Span<const Schema>,
                          absl::Span<const std::optional<uint64_t>>) {
    return attributes.Expr("predicate").literal().boolean();
  };
  filter.attributes = {{.name = "predicate", .type = AttributeType::kExpression, .doc = "Which rows stay."}};
  filter.infer = InferFilter;
  filter.reads = FilterReads;
  RequireRegistered(registry.Register(filter));
  Declaration split = Stream("split");
  split.traits.one_to_many = true;
  RequireRegistered(registry.Register(split));
  Declaration zip = Stream("zip");
  zip.min_inputs = 2;
  zip.max_inputs = -1;
  zip.infer = InferZip;
  zip.reads = PassesColumns();
  zip.traits.indexed = true;
  zip.traits.side_by_side = true;
  RequireRegistered(registry.Register(zip));
  Declaration same = zip;
  same.name = "same";
  same.traits.side_by_side = false;
  same.infer = [](const Attributes&, absl::Span<const Schema> inputs) -> absl::StatusOr<Schema> {
    if (inputs[0].Names() != inputs[1].Names()) return GraphError("the columns differ");
    return inputs[0];
  };
  same.reads = PassesColumns();
  RequireRegistered(registry.Register(same));
}

void DeclareKernels() {
  Registry& registry = Registry::Global();
  RequireRegistered(registry.Register({.name = "Resize",
                                       .version = 2,
                                       .summary = "Resizes an image.",
                                       .attributes = {{.name = "size",
                                                       .type = AttributeType::kInts,
                                                       .doc = "Height and width.",
                                                       .minimum = 1,
                                                       .lengths = {2},
                                                       .broadcast = true},
                                                      {.name = "interpolation",
                                                       .type = AttributeType::kString,
                                                       .doc = "How.",
                                                       .default_value = "'bilinear'",
                                                       .choices = {"nearest", "bilinear", "bicubic"}}},
                                       .traits = {.geometric = true},
                                       .python_module = "vision",
                                       .example = "V.Resize(256)",
                                       .infer_kernel = InferResize,
                                       // Version 1 called it `mode`.
                                       .upgrade =
                                           [](int, std::vector<std::pair<std::string, proto::Value>>& attributes) {
                                             for (auto& [name, value] : attributes) {
                                               if (name == "mode") name = "interpolation";
                                             }
                                             return absl::OkStatus();
                                           },
                                       .is_kernel_identity = ResizesToSame}));
  RequireRegistered(registry.Register({.name = "Flip",
                                       .attributes = {{.name = "probability",
                                                       .type = AttributeType::kFloat,
                                                       .doc = "How often.",
                                                       .default_value = "0.5",
                                                       .minimum = 0,
                                                       .maximum = 1}},
                                       .traits = {.random = true},
                                       .infer_kernel = SameType}));
  RequireRegistered(registry.Register({.name = "Negate", .infer_kernel = SameType}));
  RequireRegistered(registry.Register(
      {.name = "Decode",
       .infer_kernel = [](const Attributes&, absl::Span<const ColumnType>) -> absl::StatusOr<std::vector<ColumnType>> {
         return std::vector{ColumnType::Of(DType::kUInt8, {kUnknownDim, kUnknownDim, 3})};
       }}));
  RequireRegistered(registry.Register(
      {.name = "Fetch", .traits = {.deterministic = false, .file_io = true}, .infer_kernel = SameType}));
  RequireRegistered(registry.Register({.name = "Join", .min_inputs = 2, .max_inputs = 3, .infer_kernel = SameType}));
  RequireRegistered(registry.Register({.name = "Beside",
                                       .min_inputs = 2,
                                       .max_inputs = 3,
                                       .traits = {.keeps_classes = true},
                                       .infer_kernel = SameType}));
  RequireRegistered(registry.Register(
      {.name = "Pile", .max_inputs = -1, .traits = {.keeps_classes = true}, .infer_kernel = SameType}));
  RequireRegistered(registry.Register(
      {.name = "Call",
       .max_inputs = -1,
       .attributes = {{.name = "function", .type = AttributeType::kReference, .doc = "The user's function."},
                      {.name = "ordered", .type = AttributeType::kBool, .doc = "In order.", .default_value = "True"},
                      {.name = "random", .type = AttributeType::kBool, .doc = "Draws.", .default_value = "False"},
                      {.name = std::string(kOccurrenceAttribute),
                       .doc = "Its number.",
                       .default_value = "None",
                       .nullable = true}},
       .traits = {.deterministic = false, .python = true}}));
}

absl::StatusOr<Branching> Perhaps(const Attributes& attributes, size_t branches) {
  if (branches != 1) return GraphError("has one branch, not ", branches);
  const double p = attributes.Float("p");
  return Branching{.drawn = {p > 0}, .none = p < 1};
}

void DeclareChoosers() {
  Registry& registry = Registry::Global();
  RequireRegistered(registry.Register({.name = "Perhaps",
                                       .max_inputs = -1,
                                       .attributes = {{.name = "p",
                                                       .type = AttributeType::kFloat,
                                                       .doc = "How often.",
                                                       .default_value = "0.5",
                                                       .minimum = 0,
                                                       .maximum = 1}},
                                       .traits = {.random = true},
                                       .branching = Perhaps}));
  RequireRegistered(registry.Register({.name = "Either",
                                       .max_inputs = -1,
                                       .traits = {.random = true},
                                       .branching = [](const Attributes&, size_t n) -> absl::StatusOr<Branching> {
                                         return Branching{.drawn = std::vector<bool>(n, true)};
                                       }}));
  RequireRegistered(registry.Register({.name = "AnyOrder",
                                       .max_inputs = -1,
                                       .traits = {.random = true},
                                       .branching = [](const Attributes&, size_t n) -> absl::StatusOr<Branching> {
                                         return Branching{.drawn = std::vector<bool>(n, true), .several = n > 1};
                                       }}));
}

// Appends random nodes, each on a node without users, so that all are reachable.
class RandomBuilder {
 public:
  explicit RandomBuilder(uint64_t seed) : random_(seed) {}

  proto::Graph Build() {
    uint32_t top = Source(0);
    const uint64_t count = Below(6);
    for (uint64_t i = 0; i < count; ++i) top = AddOn(top);
    if (Below(4) == 0) top = ZipWithItself(top);
    if (Below(3) == 0) builder_.Add("batch", {top}, {{"size", IntValue(3)}});
    return builder_.Canonical();
  }

 private:
  uint64_t Below(uint64_t bound) { return random_() % bound; }

  uint32_t Source(uint64_t kind) {
    if (kind == 0) return builder_.Add("pictures", {}, {{"columns", StringsValue({"image", "label", "path", "big"})}});
    return builder_.Add("numbers", {}, {{"stop", IntValue(static_cast<int64_t>(Below(100)))}});
  }

  // A node with two users, and a second source.
  uint32_t ZipWithItself(uint32_t top) {
    const uint32_t left = builder_.Add("project", {top}, {{"columns", StringsValue({"image", "path"})}});
    uint32_t right = Below(2) == 0 ? AddMap(top) : top;
    right = builder_.Add("project", {right}, {{"columns", StringsValue({"label"})}});
    return builder_.Add("zip", {left, right, Source(1)});
  }

  uint32_t AddOn(uint32_t input) {
    switch (Below(6)) {
      case 0:
        return builder_.Add("shuffle", {input}, {{"window", IntValue(static_cast<int64_t>(1 + Below(50)))}});
      case 1:
        return builder_.Add("take", {input}, {{"count", IntValue(7)}});
      case 2:
        return builder_.Add("filter", {input}, {{"predicate", ExpressionValue(Predicate())}});
      default:
        return AddMap(input);
    }
  }

  uint32_t AddMap(uint32_t input) {
    const uint32_t map = builder_.Add(kMapOp, {input});
    const uint64_t steps = 1 + Below(4);
    for (uint64_t i = 0; i < steps; ++i) AddStep();
    return map;
  }

  void AddStep() {
    const std::string output = Below(3) == 0 ? Cat("new", names_++) : "image";
    const auto group = static_cast<uint32_t>(Below(3));
    switch (Below(6)) {
      case 0:
        builder_.Step("Resize", {"image"}, {output}, {{"size", IntValue(static_cast<int64_t>(1 + Below(300)))}});
        return;
      case 1:
        builder_.Step("Flip", {"image"}, {output}, {{"probability", FloatValue(0.25)}}, group);
        return;
      case 2:
        builder_.Step("Join", {"image", "big"}, {output});
        return;
      case 4:
        AddChooser(output, group);
        return;
      case 3:
        if (Below(3) == 0) {
          builder_.Step("Call", {"path"}, {Cat("new", names_++)}, {{"function", ReferenceValue("train.py:f#0")}});
        }
        return;
      default:
        builder_.Step("Negate", {"label"}, {"label"});
    }
  }

  void AddChooser(const std::string& output, uint32_t group) {
    if (Below(2) == 0) {
      builder_.Step("Perhaps", {"image"}, {output}).Branch();
      builder_.Step("Flip", {output}, {output}, {{"probability", FloatValue(0.5)}}, group).End();
      return;
    }
    builder_.Step(Below(2) == 0 ? "Either" : "AnyOrder", {"image", "label"}, {output, "label"});
    builder_.Branch().Step("Flip", {output}, {output}).Step("Negate", {"label"}, {"label"}).End();
    builder_.Branch().Step("Perhaps", {"label"}, {"label"}).Branch().Step("Negate", {"label"}, {"label"}).End().End();
  }

  proto::Expression Predicate() {
    proto::Expression small = CallExpression("<", ColumnExpression("label"), LiteralExpression(IntValue(10)));
    if (Below(2) == 0) return small;
    return CallExpression("and", small,
                          CallExpression("!=", ColumnExpression("path"), LiteralExpression(StringValue("a.jpg"))));
  }

  std::mt19937_64 random_;
  GraphBuilder builder_;
  int names_ = 0;
};

}  // namespace

void DeclareFakeOps() {
  static const bool declared = [] {
    DeclareSources();
    DeclareOps();
    DeclareKernels();
    DeclareChoosers();
    return true;
  }();
  (void)declared;
}

GraphBuilder::GraphBuilder() {
  DeclareFakeOps();
  graph_.set_format(kFormat);
}

uint32_t GraphBuilder::Add(std::string_view op, std::vector<uint32_t> inputs, const Given& attributes) {
  proto::Node* node = graph_.add_nodes();
  node->set_op(std::string(op));
  node->mutable_inputs()->Add(inputs.begin(), inputs.end());
  for (const auto& [name, value] : attributes) {
    proto::Attribute* attribute = node->add_attributes();
    attribute->set_name(name);
    *attribute->mutable_value() = value;
  }
  node->mutable_location()->set_file("train.py");
  node->mutable_location()->set_line(++line_);
  return static_cast<uint32_t>(graph_.nodes_size() - 1);
}

GraphBuilder& GraphBuilder::Step(std::string_view kernel, std::vector<std::string> inputs,
                                 std::vector<std::string> outputs, const Given& attributes, uint32_t group) {
  proto::Step* step = LastSteps().Add();
  step->set_kernel(std::string(kernel));
  step->mutable_inputs()->Add(inputs.begin(), inputs.end());
  step->mutable_outputs()->Add(outputs.begin(), outputs.end());
  for (const auto& [name, value] : attributes) {
    proto::Attribute* attribute = step->add_attributes();
    attribute->set_name(name);
    *attribute->mutable_value() = value;
  }
  step->set_group(group);
  step->mutable_location()->set_file("train.py");
  step->mutable_location()->set_line(++line_);
  return *this;
}

Steps& GraphBuilder::LastSteps() {
  return open_.empty() ? *graph_.mutable_nodes()->rbegin()->mutable_steps() : *open_.back()->mutable_steps();
}

GraphBuilder& GraphBuilder::Branch() {
  open_.push_back(LastSteps().rbegin()->add_branches());
  return *this;
}

GraphBuilder& GraphBuilder::End() {
  open_.pop_back();
  return *this;
}

proto::Graph GraphBuilder::Canonical() const {
  proto::Graph graph = graph_;
  absl::Status status = Canonicalize(graph);
  if (!status.ok()) {
    std::fputs(status.ToString().c_str(), stderr);
    std::abort();
  }
  return graph;
}

proto::Graph RandomGraph(uint64_t seed) { return RandomBuilder(seed).Build(); }

}  // namespace headrace::ir
