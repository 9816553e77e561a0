#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "core/hash.h"
#include "engine/operator/operator.h"
#include "ir/type.h"
#include "ops/order/permute.h"
#include "ops/source/name_rows.h"

namespace headrace {
namespace {

// Arrays up to this size are hashed completely; of larger ones, evenly spread samples.
constexpr size_t kHashedWhole = 1 << 20;
constexpr size_t kHashedRun = 256;

struct NamedArray {
  std::string name;
  Tensor rows;
};

uint64_t HashElements(const Tensor& array, uint64_t hash) {
  if (IsVariableLength(array.dtype())) {
    const int64_t count = array.elements();
    const int64_t step = std::max<int64_t>(1, count / static_cast<int64_t>(kHashedWhole / kHashedRun));
    for (int64_t i = 0; i < count; i += step) hash = HashBytes(array.bytes_at(i), hash);
    return hash;
  }
  const char* bytes = reinterpret_cast<const char*>(array.raw());
  if (array.bytes() <= kHashedWhole) return HashBytes({bytes, array.bytes()}, hash);
  const size_t step = array.bytes() / (kHashedWhole / kHashedRun);
  for (size_t at = 0; at + kHashedRun <= array.bytes(); at += step) hash = HashBytes({bytes + at, kHashedRun}, hash);
  return HashBytes({bytes + array.bytes() - kHashedRun, kHashedRun}, hash);
}

bool AreSideBySide(absl::Span<const uint64_t> indices) {
  for (size_t i = 1; i < indices.size(); ++i) {
    if (indices[i] != indices[0] + i) return false;
  }
  return true;
}

// The array's own memory if the rows are side by side.
absl::StatusOr<BlockColumn> RowsOf(const Tensor& array, absl::Span<const uint64_t> indices, bool side_by_side) {
  const auto count = static_cast<int64_t>(indices.size());
  if (IsVariableLength(array.dtype())) {
    BlockColumn column;
    for (const uint64_t index : indices) column.Append(array.Index(static_cast<int64_t>(index)));
    return column;
  }
  if (side_by_side) return BlockColumn::Stacked(array.Slice(0, static_cast<int64_t>(indices[0]), count));
  Shape shape = array.shape();
  shape[0] = count;
  HEADRACE_ASSIGN_OR_RETURN(Tensor rows, Tensor::Allocate(array.dtype(), shape));
  const size_t bytes = rows.bytes() / indices.size();
  for (size_t i = 0; i < indices.size(); ++i) {
    std::memcpy(rows.mutable_raw() + i * bytes, array.raw() + indices[i] * bytes, bytes);
  }
  return BlockColumn::Stacked(std::move(rows));
}

class NumpySource : public IndexedSource {
 public:
  NumpySource(std::string name, std::vector<NamedArray> arrays)
      : name_(std::move(name)), arrays_(std::move(arrays)), size_(static_cast<uint64_t>(arrays_[0].rows.dim(0))) {}

  uint64_t size() const override { return size_; }

  absl::Status Read(const RowPlace& place, Block& block) const override {
    const uint64_t index = place.position;
    absl::InlinedVector<Tensor, 2> columns;
    for (const NamedArray& array : arrays_) columns.push_back(array.rows.Index(static_cast<int64_t>(index)));
    AppendRow(block, {place.epoch, index}, {nullptr, static_cast<int64_t>(index), -1}, columns);
    return absl::OkStatus();
  }

  absl::Status ReadRows(const RowPlaces& places, Block& block) const override {
    const absl::Span<const uint64_t> indices = places.positions;
    const bool side_by_side = AreSideBySide(indices);
    for (const NamedArray& array : arrays_) {
      HEADRACE_ASSIGN_OR_RETURN(BlockColumn column, RowsOf(array.rows, indices, side_by_side));
      block.columns.push_back(std::move(column));
    }
    NameRows(indices, places.epoch, block);
    return absl::OkStatus();
  }

  void Identify(uint64_t epoch, uint64_t index, RowId& id, Provenance& provenance) const override {
    id = {epoch, index};
    provenance = {nullptr, static_cast<int64_t>(index), -1};
  }

  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override {
    uint64_t hash = 0;
    for (const NamedArray& array : arrays_) {
      hash = HashElements(array.rows, HashBytes(Cat(array.name, " ", array.rows.TypeName()), hash));
    }
    fingerprints.push_back({Cat("Numpy ", name_), size_, hash});
  }

 private:
  const std::string name_;
  const std::vector<NamedArray> arrays_;
  const uint64_t size_;
};

// The same array in a buffer that counts no bytes: the user's memory is not charged to the pipeline, and a row must not
// count as the whole array.
Tensor Uncounted(const Tensor& array) {
  if (IsVariableLength(array.dtype())) return array;
  BufferRef buffer = BufferRef::Foreign(const_cast<uint8_t*>(array.raw()), 0, [keep = array.buffer()] {});
  return Tensor::View(array.dtype(), array.shape(), std::move(buffer), array.raw());
}

using ArraysByName = std::map<std::string_view, const Tensor*>;

absl::StatusOr<NamedArray> Bind(const ir::Column& column, const ArraysByName& arrays) {
  const auto found = arrays.find(column.name);
  if (found == arrays.end()) {
    std::vector<std::string> names;
    for (const auto& [name, array] : arrays) names.emplace_back(name);
    return GraphError("the arrays given have no column \"", column.name, "\" (columns: ", absl::StrJoin(names, ", "),
                      ")");
  }
  const Tensor& given = *found->second;
  if (given.rank() == 0) {
    return GraphError("column \"", column.name, "\" is a single ", DTypeName(given.dtype()),
                      ": an array needs a first axis, the rows");
  }
  const absl::Span<const int64_t> row_shape = absl::MakeConstSpan(given.shape()).subspan(1);
  if (!ir::FitsType(column.type, given.dtype(), row_shape)) {
    return GraphError("column \"", column.name, "\" has rows of ", DTypeName(given.dtype()), " ", ShapeName(row_shape),
                      "; the graph was built for ", ir::TypeName(column.type));
  }
  HEADRACE_ASSIGN_OR_RETURN(const Tensor array, given.Contiguous());
  return NamedArray{column.name, Uncounted(array)};
}

absl::StatusOr<std::unique_ptr<IndexedSource>> MakeNumpy(const OpArguments& arguments) {
  const std::string& name = arguments.attributes.ReferenceName("arrays");
  const auto& bound = arguments.run->bindings->arrays;
  const auto found = bound.find(name);
  if (found == bound.end()) {
    return GraphError("the arrays ", name, " are not here: a graph that refers to arrays runs only where it was built");
  }
  ArraysByName given;
  for (const auto& [column, array] : found->second.columns) given.emplace(column, &array);
  std::vector<NamedArray> arrays;
  for (const ir::Column& column : arguments.output.columns) {
    HEADRACE_ASSIGN_OR_RETURN(NamedArray array, Bind(column, given));
    if (!arrays.empty() && arrays[0].rows.dim(0) != array.rows.dim(0)) {
      return GraphError("columns \"", arrays[0].name, "\" and \"", array.name, "\" have ", arrays[0].rows.dim(0),
                        " and ", array.rows.dim(0), " rows; they must have equally many");
    }
    arrays.push_back(std::move(array));
  }
  return std::make_unique<NumpySource>(name, std::move(arrays));
}

absl::StatusOr<ir::Schema> Infer(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
  ir::Schema schema = attributes.Columns("columns");
  if (schema.columns.empty()) return GraphError("columns is empty; give at least one array");
  return schema;
}

const OpRegistration registration(
    {
        .name = "Numpy",
        .version = 2,
        .role = ir::Role::kSource,
        .summary = "Gives the rows of NumPy arrays, along their first axis.",
        .doc = "One column for each array: the dict's keys, or `data` for one array alone. Rows are views: nothing is "
               "copied, and the arrays must not be written to while they are read. All arrays have equally many rows. "
               "A row's key is its index.",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = {{.name = "arrays", .type = ir::AttributeType::kReference, .doc = "The arrays, by name."},
                       {.name = "columns",
                        .type = ir::AttributeType::kColumns,
                        .doc = "Types of the rows of each array."},
                       DeclareShuffle()},
        .traits = {.indexed = true},
        .python =
            {.parameters = "arrays: Mapping[str, Any] | Any, *, shuffle: bool = False, seed: int | None = None, "
                           "name: str | None = None",
             .docs = {{"arrays",
                       "Columns with arrays of equal first axis; or one array, which becomes the column `data`. "
                       "They are shared, not copied: do not change them while a pipeline runs."},
                      {"shuffle"},
                      {"seed"},
                      {"name"}},
             .body = "self._begin(\"Numpy\", hosted.numpy_attributes(arrays, shuffle=shuffle, seed=seed, name=name))"},
        .example = "hr.Numpy({\"x\": np.arange(10)}, shuffle=True)",
        .infer = Infer,
    },
    {.indexed_source = MakeNumpy});

}  // namespace
}  // namespace headrace
