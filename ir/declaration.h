// `Declaration` declares an operator or kernel once, in the file that implements it. The Python class, validation,
// serialization, the reference page and error messages derive from it.
// Threads: declarations are immutable; most are registered before main, others at any time from any thread.
#ifndef HEADRACE_IR_DECLARATION_H_
#define HEADRACE_IR_DECLARATION_H_

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/name_table.h"
#include "ir/type.h"

namespace headrace::ir {

namespace proto {
class Value;  // of graph.proto
}

enum class Role {
  kKernel,  // tensors of a row to tensors of that row, inside map
  kSource,  // no input
  kRow,     // stateless: any worker may run any row
  kStream,  // one message at a time, in order
};

enum class AttributeType {
  kBool,
  kInt,
  kFloat,
  kString,
  kInts,
  kFloats,
  kStrings,
  kDType,  // NumPy's name as text
  kPairs,  // text to text, ordered
  kExpression,
  kColumns,    // columns with types
  kReference,  // a Python function or array
};

// What a reference names, which decides how the host language calls the object that a user gives for it.
enum class Referenced {
  kFunction,        // of a row's columns
  kPredicate,       // a function of a row's columns that says whether the row stays
  kGenerator,       // a callable that gives an iterator for an epoch
  kDataset,         // an object that gives rows by number
  kArrays,          // columns by name
  kArrow,           // a table or stream of the Arrow C data interface
  kSamplerSize,     // of a sampler: the number of rows of an epoch
  kSamplerIndices,  // of a sampler: the numbers of the rows of an epoch
  kBatchSize,       // a function that chooses the size of the next batch
  kBatchFunction,   // a function that makes a batch of rows
};

// How many elements a list may have.
struct ListLength {
  int64_t least = 1;
  int64_t most = kAnyNumber;

  static constexpr int64_t kAnyNumber = int64_t{1} << 62;
  // Numbers of the channels of an image, or of one for all of them.
  static constexpr ListLength OfChannels() { return {1, kMostChannels}; }
  static constexpr int64_t kMostChannels = 65535;
};

struct Attribute {
  std::string name = {};
  AttributeType type = AttributeType::kInt;
  std::string doc = {};  // one sentence
  // For messages, where the words for the type do not say enough: "a whole number or (height, width)".
  std::string in_words = {};
  // The default in Python's notation ("1", "True", "'bilinear'", "(0.08, 1.0)", "None"); nullopt: required.
  std::optional<std::string> default_value = {};
  bool nullable = false;  // None is allowed
  // Bounds of numbers, and of every element of lists; inclusive unless `exclusive_minimum`.
  std::optional<double> minimum = {};
  std::optional<double> maximum = {};
  bool exclusive_minimum = false;
  std::vector<std::string> choices = {};  // for texts
  // Choices that give the results of another one, each with that one, which takes its place in the graph's hash: states
  // and caches of either fit the other.
  std::vector<std::pair<std::string, std::string>> hashed_as = {};
  // Allowed lengths of lists; empty: any. With `broadcast`, a single number fills the longest length (Resize(256) is
  // declared by {2} with `broadcast`); otherwise it becomes a list of one.
  std::vector<int> lengths = {};
  bool broadcast = false;
  // For lists without `lengths`: the fewest and the most elements; unset, as in plugins: any. A test wants one of the
  // two for each list of ours.
  std::optional<ListLength> length = {};
  // For real numbers and lists of them: whole numbers stay whole, and Attributes::Number distinguishes them. For values
  // that are stored in a column of any dtype: not every int64 is a double.
  bool keeps_whole = false;
  // Changes only speed, never results; excluded from the graph's hash.
  bool tuning = false;
  Referenced referenced = Referenced::kFunction;  // for references
  // For texts: Python also accepts path objects. Read by Attributes::Path.
  bool path = false;
  // For texts, and for the keys of pairs: names of files or folders, which are any bytes; `path` says so, too. Python's
  // `str` holds them as its own paths do, and a graph as TextOfPath does.
  bool any_bytes = false;
  // A list of texts: the columns that the op gives, of those that it could. The optimizer leaves out those that nothing
  // reads.
  bool chooses_columns = false;
  // Not a parameter in Python: the front end or the engine sets it.
  bool hidden = false;
  // For a source: if the attribute is not None, the source has random access, as if that were among its traits, and
  // draws nothing itself.
  bool indexes = false;
  // For a bool: the operator that the canonical form puts above this one where it is true and this one has random
  // access, with this one's `seed` and `name`. The attribute is false afterwards.
  std::string puts_above = {};
};

struct Traits {
  bool random = false;        // draws from the row's stream: has a salt and implicit attributes `seed` and `name`
  bool deterministic = true;  // same input and draws, same output
  bool one_to_one = false;    // one row in, one row out (kernels always)
  bool decodes = false;       // turns encoded bytes into an image
  bool geometric = false;     // moves or resamples pixels
  bool pointwise = false;     // each output element from one input element
  bool per_pixel = false;     // each output pixel from one input pixel, and from facts of the whole image
  bool casts = false;         // changes the type of numbers and nothing else
  bool layout = false;        // changes the order of an image's axes and nothing else
  // Changes pixels and moves none, from whatever it computes them: boxes, keypoints and masks of the image stay right.
  // So do those of kernels that are pointwise, per_pixel or layout.
  bool leaves_places = false;
  bool indexed = false;  // a source with random access, or an op over such sources that only acts on indices
  bool file_io = false;  // reads files: runs on threads of its own
  bool python = false;   // calls the user's Python function
  bool ordered = false;  // must see the rows one after the other, in order
  bool light = false;    // so cheap that it should share a stage
  // For the optimizer. Each says that the op depends on nothing else, and keeps columns and identities.
  bool by_position = false;          // drops or reorders rows by their positions alone
  bool selects = false;              // keeps or drops each row by that row alone
  bool one_to_many = false;          // makes several rows of one, which travel together
  bool single_row_messages = false;  // needs its rows one per message
  bool repeats = false;              // gives each row any number of times, under new identities
  bool side_by_side = false;         // row i is made of row i of each input
  bool reorders = false;             // over indices: gives all rows, in another order in each epoch
  bool by_number = false;            // over indices: names rows of its input by their numbers in unshuffled order
  // The canonical form makes it of an attribute of its input, whose name it has in messages.
  bool stands_for_attribute = false;
  bool joins_rows = false;  // makes one row of several, along a new first axis
  // A kernel that works on a batch as a whole: what it gives depends on which rows meet, so it stays where it is
  // between operators that join rows or take them apart.
  bool by_batch = false;
  // Leaves a column of labels by class: in another form, as one-hot, or in shares of several rows.
  bool keeps_classes = false;

  friend bool operator==(const Traits&, const Traits&) = default;
};

// Works on an image of known axes.
inline bool NeedsChannelsLast(const Traits& traits) { return traits.geometric || traits.per_pixel || traits.layout; }

// Gives rows of its input unchanged, in any order: each once, several times or not at all.
inline bool PassesRows(const Traits& traits) { return traits.repeats || traits.selects || traits.by_position; }

// Attribute values of one node or step, by name; checked and with defaults filled in, so getters cannot fail.
class Attributes;

using InferKernel = std::function<absl::StatusOr<std::vector<ColumnType>>(const Attributes& attributes,
                                                                          absl::Span<const ColumnType> inputs)>;
using InferOp = std::function<absl::StatusOr<Schema>(const Attributes& attributes, absl::Span<const Schema> inputs)>;
using ColumnSet = std::set<std::string, std::less<>>;
// The columns of each input that an op needs for the columns `wanted` of its output and for its own decisions (a
// filter's expression); one set per input.
using Reads = std::function<std::vector<ColumnSet>(const Attributes& attributes, absl::Span<const Schema> inputs,
                                                   const ColumnSet& wanted)>;
// What a run of the op may write to the disk, each in words that follow "may write": "the listing photos.list".
using Writes = std::function<std::vector<std::string>(const Attributes& attributes)>;
// Whether the op returns the rows of its only input unchanged, so that removing it has no effect. `most_rows` is that
// of MostRows.
using IsIdentity = std::function<bool(const Attributes& attributes, absl::Span<const Schema> inputs,
                                      absl::Span<const std::optional<uint64_t>> most_rows)>;
// Whether the kernel returns its only input unchanged for every row of that type, and never fails.
using IsKernelIdentity = std::function<bool(const Attributes& attributes, absl::Span<const ColumnType> inputs)>;
// The most rows of any epoch on any rank, if its inputs have no more than given; nullopt: not known.
using MostRows = std::function<std::optional<uint64_t>(const Attributes& attributes,
                                                       absl::Span<const std::optional<uint64_t>> inputs)>;
// Whether an image kernel takes an image whose channels come first, (C, H, W), or last, (H, W, C).
using TakesLayout = std::function<bool(const Attributes& attributes, bool channels_first)>;
// Inputs of a kernel, as far as the graph shows them.
struct KnownInput {
  ColumnType type = {};
  bool bytes_range = false;  // numbers of 0 … 255, of whatever type
  // The kernel that made numbers of 0 … 1 of it; empty: not known.
  std::string_view units_by = {};
};
// Whether a kernel gives numbers of 0 … 1. `units`: whether its input has them.
using GivesUnits = std::function<bool(const Attributes& attributes, bool units)>;
// What a chooser does with its branches, the lists of kernels that it applies.
struct Branching {
  std::vector<bool> drawn = {};  // for each branch: whether a row may go through it
  bool none = false;             // a row may go through none
  bool several = false;          // a row may go through several, in any order

  // The branch that every row goes through, and no other; -1: it is drawn.
  int certain() const;
};
// An error if it cannot have so many branches, at least one.
using BranchingOf = std::function<absl::StatusOr<Branching>(const Attributes& attributes, size_t branches)>;
// What is probably wrong with the kernel on these inputs, and what to write instead, as a sentence that follows the
// kernel's name; empty: nothing.
using Doubt = std::function<std::string(const Attributes& attributes, absl::Span<const KnownInput> inputs)>;
// From this version's node or step to the next version's, in place; `from` is the version upgraded.
using Upgrade = std::function<absl::Status(int from, std::vector<std::pair<std::string, proto::Value>>& attributes)>;

// For ops whose output has the columns of their first input, such as shuffle and take.
InferOp PassesSchema();
// For ops that drop rows.
MostRows NoMoreRows();
// For ops that pass columns on by name and read none: for each input, its part of the wanted columns.
Reads PassesColumns();

// The input of the tests that run every kernel.
enum class SampleInput {
  kImage,    // uint8 (60, 80, 3)
  kEncoded,  // a JPEG: bytes ()
  kVector,   // int32 (4,): 0 … 3
  kImages,   // a batch: float32 (5, 6, 8, 3)
  kClasses,  // a batch: int32 (5,): 0 … 4
};
std::string_view SampleInputName(SampleInput input);  // "image"

// Attributes and inputs for which a kernel returns something other than zeros.
struct Sample {
  // Name and value in Python's notation, as default_value; at least those without a default.
  std::vector<std::pair<std::string, std::string>> attributes = {};
  std::vector<SampleInput> inputs = {};  // one per column
};

// What a companion of a kernel (kernels/companion.h) is for.
enum class CompanionRole {
  kBoxes,        // moves boxes as the kernel moves pixels
  kKeypoints,    // moves keypoints so
  kObjectMasks,  // moves masks of single boxes so
  kDraws,        // gives what the kernel draws, for a device that does its work
  kMarks,        // gives an image of four marks, one for each corner, which the kernel flips for a device
};
std::string_view CompanionRoleName(CompanionRole role);  // "boxes"

struct Companion {
  CompanionRole role = CompanionRole::kBoxes;
  std::string name = {};
};

// The work of a kernel that a device can do after images were copied there (engine/device/device_tail.h).
enum class DeviceWork {
  kNone,
  kFlips,    // flips images or leaves them, whatever their size
  kResizes,  // resizes images, or parts of them, by weighted sums
  kErases,   // erases a part of images, to a value that follows from the channel alone
  kBlends,   // mixes the images of a batch, and their labels in another column
  kPastes,   // replaces a rectangle of each image of a batch by that of another, and mixes their labels
};

struct OnDevice {
  DeviceWork work = DeviceWork::kNone;
  // Whether the work is that with these attributes; unset: with any.
  std::function<bool(const Attributes& attributes)> with = {};
  // Of one that erases: attributes with which it always erases the middle one of 3 × 3 pixels, as those of a sample.
  std::vector<std::pair<std::string, std::string>> erases_middle = {};
};

// What a kernel of images does with a clip, frames of one size along a first axis: (T, H, W, C).
enum class Clips {
  kNone,     // nothing of its own: it gets an array of four axes
  kByFrame,  // it gets one frame after the other, each with the draws of one image (kernels/by_frame.h)
  kWhole,    // it gets the clip, of which it reads the size of the frames
};
std::string_view ClipsName(Clips clips);  // "by_frame"

// What a kernel does to boxes, keypoints or masks without moving them. The front finds by it the kernels that it writes
// into a map with such columns (the first seven: one kernel of each), and those of which users mean such a column.
enum class TargetWork {
  kNone,
  kPlacesBoxes,         // on the canvas of their image
  kPlacesKeypoints,     // on the canvas of their image
  kMatchesMask,         // checks that a mask has the size of its image
  kMatchesFrameMasks,   // checks so a mask with a plane for each frame of a clip
  kMatchesObjectMasks,  // checks so masks of single boxes
  kTakesBoxes,          // from their canvas
  kTakesKeypoints,      // from their canvas
  kChangesBoxes,
  kConvertsBoxes,  // gives them another format
  kChangesKeypoints,
};
std::string_view TargetWorkName(TargetWork work);  // "places_boxes"

// The Python signature of an operator whose parameters are not exactly its attributes: because it takes Python objects,
// or reads its arguments like a function of Python. How they become attributes is the front's, by the operator's name.
struct PythonSignature {
  struct Parameter {
    std::string name = {};
    std::string doc = {};  // empty: the attribute's
  };
  std::string parameters = {};  // "start: int, stop: int | None = None"
  std::vector<Parameter> docs = {};
  std::string returns = {};  // of a method; empty: "Dataset"
};

struct Declaration {
  std::string name = {};
  // Of a kernel that users do not write: what they wrote, for messages. Empty: `name`.
  std::string written_as = {};
  int version = 1;
  Role role = Role::kKernel;
  std::string summary = {};  // one sentence
  std::string doc = {};      // further text: shapes, dtypes, units, ranges, errors, the source of the definition
  // Number of inputs: columns for a kernel, datasets for an op. max_inputs < 0: any number.
  int min_inputs = 1;
  int max_inputs = 1;
  // Register adds `seed` and `name` where traits.random is set, or an attribute puts an operator above: None takes the
  // pipeline's seed, and leaves the salt to the canonical form.
  std::vector<Attribute> attributes = {};
  Traits traits = {};
  // The module of the Python class: one of FrontModules() (ir/front_module.h), or "internal": users do not write it. In
  // "dataset" it is a method, under `python_name`.
  std::string python_module = {};
  std::string python_name = {};  // for methods: "batch"; empty: `name`
  PythonSignature python = {};   // without `parameters`: one parameter per attribute
  std::string example = {};      // a line or more of Python, run by a test
  Sample sample = {};            // for kernels: what the tests that run all of them give each
  InferKernel infer_kernel = {};
  // For a kernel that is a Chooser (kernels/chooser.h), whose types follow from its branches.
  BranchingOf branching = {};
  InferOp infer = {};
  Upgrade upgrade = {};
  // For ops; unset: every column is read, so the optimizer drops none below.
  Reads reads = {};
  // Unset: nothing. An op that writes looks at RunOptions::writes first (engine/operator/operator.h), or writes rows
  // alone.
  Writes writes = {};
  // Unset: never an identity.
  IsIdentity is_identity = {};
  IsKernelIdentity is_kernel_identity = {};
  // For kernels of images. Unset: channels last where the traits are geometric, per_pixel or layout, otherwise either.
  TakesLayout takes_layout = {};
  // For kernels of images. Unset: frame by frame where the traits are geometric, per_pixel or layout, otherwise none.
  std::optional<Clips> clips = {};
  // For kernels of images.
  std::vector<Companion> companions = {};
  OnDevice on_device = {};
  TargetWork target_work = TargetWork::kNone;
  // Unset: no doubt.
  Doubt doubt = {};
  // Unset: where its input has them, if it moves pixels, casts, or computes each number from the one in its place or
  // each pixel from its own.
  GivesUnits gives_units = {};
  // Unset: as many as its input if it is one to one, otherwise not known.
  MostRows most_rows = {};

  const Attribute* FindAttribute(std::string_view attribute) const;
  // Null: it has none.
  const std::string* CompanionFor(CompanionRole role) const;
  const std::string& written() const { return written_as.empty() ? name : written_as; }
  bool TakesImage(const Attributes& values, bool channels_first) const;
  Clips OfClips() const;
};

// All declarations, by name.
class Registry {
 public:
  static Registry& Global();
  // kGraph, with nothing changed, for a declaration that cannot be used: its name is taken, an attribute occurs twice,
  // or a default does not fit. `before_visible` is called once the declaration is known to be good, before Find gives
  // it: it stores what else belongs to the operator.
  absl::Status Register(Declaration declaration, absl::FunctionRef<void()> before_visible = [] {});
  // Null: there is none. Stays valid.
  const Declaration* Find(std::string_view name) const { return declarations_.Find(name); }
  std::vector<const Declaration*> All() const { return declarations_.All(); }  // sorted by name

 private:
  std::mutex mutex_;  // of registrations
  NameTable<Declaration> declarations_;
};

// For registrations before main, whose errors are bugs: aborts with the message.
void RequireRegistered(const absl::Status& status);

// Registers a declaration before main; at namespace scope in a file of its own.
struct DeclarationRegistration {
  explicit DeclarationRegistration(Declaration declaration);
};

}  // namespace headrace::ir

#endif  // HEADRACE_IR_DECLARATION_H_
