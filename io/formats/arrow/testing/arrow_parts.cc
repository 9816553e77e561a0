#include "io/formats/arrow/testing/arrow_parts.h"

#include <cerrno>

namespace headrace {
namespace {

template <typename Struct>
struct PartNode {
  std::string format;
  std::string name;
  std::string metadata;
  // Each of its own, so that a sanitizer sees what is read beyond its end.
  std::vector<std::unique_ptr<char[]>> bytes;
  std::vector<const void*> buffers;
  std::vector<std::unique_ptr<Struct>> children;
  std::vector<Struct*> child_pointers;
  std::unique_ptr<Struct> dictionary;
  int* releases = nullptr;
};

template <typename Struct>
void ReleasePart(Struct* held) {
  auto* const node = static_cast<PartNode<Struct>*>(held->private_data);
  for (const std::unique_ptr<Struct>& child : node->children) {
    if (child->release != nullptr) child->release(child.get());
  }
  if (node->dictionary != nullptr && node->dictionary->release != nullptr) {
    node->dictionary->release(node->dictionary.get());
  }
  if (node->releases != nullptr) ++*node->releases;
  held->release = nullptr;
  delete node;
}

template <typename Struct, typename Fill>
void FillChildren(const ArrowPart& part, PartNode<Struct>& node, Struct& filled, Fill fill) {
  for (const ArrowPart& child : part.children) {
    node.children.push_back(std::make_unique<Struct>());
    fill(child, *node.children.back());
    node.child_pointers.push_back(node.children.back().get());
  }
  filled.n_children = part.claimed_children.value_or(static_cast<int64_t>(part.children.size()));
  filled.children = node.child_pointers.empty() ? nullptr : node.child_pointers.data();
  if (!part.dictionary.empty()) {
    node.dictionary = std::make_unique<Struct>();
    fill(part.dictionary[0], *node.dictionary);
  }
  filled.dictionary = node.dictionary.get();
  filled.release = &ReleasePart<Struct>;
  filled.private_data = &node;
}

void FillPartSchema(const ArrowPart& part, ArrowSchema& schema, int* releases) {
  auto* const node = new PartNode<ArrowSchema>{part.format, part.name, part.metadata, {}, {}, {}, {}, {}, releases};
  schema = {};
  schema.format = node->format.c_str();
  schema.name = node->name.c_str();
  schema.metadata = node->metadata.empty() ? nullptr : node->metadata.data();
  schema.flags = ARROW_FLAG_NULLABLE;
  FillChildren(part, *node, schema,
               [](const ArrowPart& child, ArrowSchema& filled) { FillPartSchema(child, filled, nullptr); });
}

void FillPartArray(const ArrowPart& part, ArrowArray& array, int* releases) {
  auto* const node = new PartNode<ArrowArray>;
  node->releases = releases;
  array = {};
  array.length = part.length;
  array.null_count = part.null_count;
  array.offset = part.offset;
  for (const std::optional<std::string>& bytes : part.buffers) {
    if (!bytes.has_value()) {
      node->buffers.push_back(nullptr);
      continue;
    }
    node->bytes.push_back(std::make_unique<char[]>(bytes->size()));
    std::memcpy(node->bytes.back().get(), bytes->data(), bytes->size());
    node->buffers.push_back(node->bytes.back().get());
  }
  array.n_buffers = part.claimed_buffers.value_or(static_cast<int64_t>(part.buffers.size()));
  array.buffers = node->buffers.empty() ? nullptr : node->buffers.data();
  FillChildren(part, *node, array,
               [](const ArrowPart& child, ArrowArray& filled) { FillPartArray(child, filled, nullptr); });
}

class PartStream : public StreamOwner {
 public:
  PartStream(std::vector<ArrowPart> parts, std::string error) : parts_(std::move(parts)), error_(std::move(error)) {
    stream_.get_schema = [](ArrowArrayStream* stream, ArrowSchema* out) {
      FillPartSchema(Of(stream).parts_[0], *out, nullptr);
      return 0;
    };
    stream_.get_next = [](ArrowArrayStream* stream, ArrowArray* out) { return Of(stream).Next(*out); };
    stream_.get_last_error = [](ArrowArrayStream* stream) { return Of(stream).error_.c_str(); };
    stream_.release = [](ArrowArrayStream* stream) { stream->release = nullptr; };
    stream_.private_data = this;
  }
  ArrowArrayStream* get() override { return &stream_; }

 private:
  static PartStream& Of(ArrowArrayStream* stream) { return *static_cast<PartStream*>(stream->private_data); }

  int Next(ArrowArray& out) {
    out = {};
    if (next_ < parts_.size()) {
      FillPartArray(parts_[next_++], out, nullptr);
      return 0;
    }
    return error_.empty() ? 0 : EIO;
  }

  const std::vector<ArrowPart> parts_;
  const std::string error_;
  size_t next_ = 0;
  ArrowArrayStream stream_ = {};
};

}  // namespace

std::string BytesOfBits(const std::vector<bool>& bits) {
  std::string bytes((bits.size() + 7) / 8, '\0');
  for (size_t i = 0; i < bits.size(); ++i) {
    if (bits[i]) bytes[i / 8] = static_cast<char>(bytes[i / 8] | (1 << (i % 8)));
  }
  return bytes;
}

ArrowPart TextsPart(std::string name, const std::vector<std::string>& texts, std::string format) {
  std::vector<int32_t> offsets = {0};
  std::string bytes;
  for (const std::string& text : texts) {
    bytes += text;
    offsets.push_back(static_cast<int32_t>(bytes.size()));
  }
  return {.format = std::move(format),
          .name = std::move(name),
          .length = static_cast<int64_t>(texts.size()),
          .buffers = {std::nullopt, BytesOfNumbers(offsets), bytes}};
}

ArrowPart ListPart(std::string name, const std::vector<int32_t>& offsets, ArrowPart elements) {
  return {.format = "+l",
          .name = std::move(name),
          .length = static_cast<int64_t>(offsets.size()) - 1,
          .buffers = {std::nullopt, BytesOfNumbers(offsets)},
          .children = {std::move(elements)}};
}

ArrowPart FixedListPart(std::string name, int64_t size, int64_t length, ArrowPart elements) {
  return {.format = "+w:" + std::to_string(size),
          .name = std::move(name),
          .length = length,
          .buffers = {std::nullopt},
          .children = {std::move(elements)}};
}

ArrowPart StructPart(std::string name, int64_t length, std::vector<ArrowPart> children) {
  return {.format = "+s",
          .name = std::move(name),
          .length = length,
          .buffers = {std::nullopt},
          .children = std::move(children)};
}

ArrowPart DictionaryPart(std::string name, const std::vector<int8_t>& indices, const std::vector<std::string>& texts) {
  ArrowPart part = NumbersPart(std::move(name), "c", indices);
  part.dictionary.push_back(TextsPart("", texts));
  return part;
}

ArrowPart WithMissing(ArrowPart part, const std::vector<bool>& valid) {
  part.buffers[0] = BytesOfBits(valid);
  part.null_count = -1;
  return part;
}

ArrowOwner<ArrowSchema> SchemaOfPart(const ArrowPart& part, int* releases) {
  ArrowOwner<ArrowSchema> schema;
  FillPartSchema(part, *schema.get(), releases);
  return schema;
}

ArrowOwner<ArrowArray> ArrayOfPart(const ArrowPart& part, int* releases) {
  ArrowOwner<ArrowArray> array;
  FillPartArray(part, *array.get(), releases);
  return array;
}

std::unique_ptr<StreamOwner> StreamOfParts(std::vector<ArrowPart> parts, std::string error) {
  return std::make_unique<PartStream>(std::move(parts), std::move(error));
}

}  // namespace headrace
