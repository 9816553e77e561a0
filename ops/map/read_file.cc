#include "ops/map/read_file.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/default_file_system.h"
#include "io/formats/pending_file.h"

namespace headrace {
namespace {

absl::Status NoPaths(std::string_view type) {
  return GraphError("reads files by their paths, which are texts or bytes; got ", type);
}

class ReadFile : public UnaryKernel {
 public:
  ReadFile(const FileSystem* files, std::string root) : files_(files), root_(std::move(root)) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& /*context*/) const override {
    if (!IsVariableLength(input.dtype())) return NoPaths(input.TypeName());
    if (input.rank() == 0) {
      HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<PendingFile> file, Start(input.bytes_value()));
      return file->Wait();
    }
    // All files are asked for first, because each of a far store takes as long as a few together.
    std::vector<std::shared_ptr<PendingFile>> pending;
    absl::Status wrong;
    for (int64_t i = 0; i < input.elements() && wrong.ok(); ++i) {
      absl::StatusOr<std::shared_ptr<PendingFile>> file = Start(input.bytes_at(i));
      wrong = file.status();
      if (file.ok()) pending.push_back(*std::move(file));
    }
    std::vector<Tensor> read;
    std::vector<std::string_view> contents;
    for (const std::shared_ptr<PendingFile>& each : pending) {
      HEADRACE_ASSIGN_OR_RETURN(Tensor file, each->Wait());
      contents.push_back(file.bytes_value());
      read.push_back(std::move(file));
    }
    HEADRACE_RETURN_IF_ERROR(wrong);
    return Tensor::CopyBytesArray(DType::kBytes, input.shape(), contents);
  }

 private:
  absl::StatusOr<std::shared_ptr<PendingFile>> Start(std::string_view path) const {
    if (path.empty()) return DataError("the path is empty; each row names a file");
    const std::string whole = root_.empty() || !RootOf(path).empty() ? std::string(path) : JoinPath(root_, path);
    // The graph is right where a row's path is not one.
    if (absl::Status named = CheckNoNul("the path", whole); !named.ok()) return DataError(ToStd(named.message()));
    return PendingFile::Start(*files_, whole, {});
  }

  const FileSystem* const files_;
  const std::string root_;
};

absl::StatusOr<std::vector<ir::ColumnType>> Infer(const ir::Attributes& attributes,
                                                  absl::Span<const ir::ColumnType> inputs) {
  if (!attributes.IsNone("root")) HEADRACE_RETURN_IF_ERROR(CheckNoNul("root", attributes.Path("root")));
  ir::ColumnType type = inputs[0];
  if (type.dtype != DType::kUnknown && type.dtype != DType::kString && type.dtype != DType::kBytes) {
    return NoPaths(ir::TypeName(type));
  }
  type.dtype = DType::kBytes;
  return std::vector<ir::ColumnType>{std::move(type)};
}

const KernelRegistration read_file_registration{
    {.name = std::string(kReadFile),
     .summary = "Reads files whole by their paths.",
     .doc = "Takes paths, or file:// URIs, as text or bytes, of any shape, and gives the files' bytes in the same "
            "shape. A file is read anew each time that its row is made, also in later epochs: no automatic cache keeps "
            "it. Files are read on threads of their own, eight at once unless map(…, workers=) says otherwise. Where a "
            "table has the paths before the run, Manifest also has random access, and notices files that changed.\n"
            "Errors of a row, which name the path: a file that is missing, is no regular file, or changes its size "
            "while it is read; an empty path.",
     .attributes = {{.name = "root",
                     .type = ir::AttributeType::kString,
                     .doc = "The folder to which relative paths are; None: the working folder.",
                     .default_value = "None",
                     .nullable = true,
                     .path = true}},
     .traits = {.deterministic = false, .file_io = true},
     .python_module = "transforms",
     .example = "T.ReadFile(root=\"photos\")",
     .infer_kernel = Infer},
    [](const ir::Attributes& attributes) -> absl::StatusOr<std::unique_ptr<Kernel>> {
      return MakeReadFile(DefaultFileSystem(), attributes);
    }};

}  // namespace

std::unique_ptr<Kernel> MakeReadFile(const FileSystem* files, const ir::Attributes& attributes) {
  return std::make_unique<ReadFile>(files, attributes.IsNone("root") ? std::string() : attributes.Path("root"));
}

}  // namespace headrace
