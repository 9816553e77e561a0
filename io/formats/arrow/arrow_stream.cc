#include "io/formats/arrow/arrow_stream.h"

#include <cstring>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/interrupt.h"

namespace headrace {
namespace {

absl::Status ProducerError(ArrowArrayStream& stream, std::string_view what, int code) {
  const char* const said = stream.get_last_error == nullptr ? nullptr : stream.get_last_error(&stream);
  return DataError("the Arrow stream gave no ", what, ": ", said == nullptr ? std::strerror(code) : said);
}

}  // namespace

absl::StatusOr<ArrowOwner<ArrowSchema>> SchemaOf(ArrowArrayStream& stream) {
  if (stream.release == nullptr) {
    return DataError("the Arrow stream was read before, and a stream gives its rows once; make a new one");
  }
  if (stream.get_schema == nullptr || stream.get_next == nullptr) {
    return DataError("the Arrow stream is damaged: it has no functions to call");
  }
  ArrowOwner<ArrowSchema> schema;
  const int code = stream.get_schema(&stream, schema.get());
  if (code != 0) return ProducerError(stream, "schema", code);
  if (!schema) return DataError("the Arrow stream is damaged: it gave a schema that was released");
  return schema;
}

absl::StatusOr<HeldArrow> NextOf(ArrowArrayStream& stream, const ArrowKeeper& keep) {
  // A producer may give arrays without rows for as long as it likes.
  HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
  ArrowOwner<ArrowArray> array;
  const int code = stream.get_next(&stream, array.get());
  if (code != 0) return ProducerError(stream, "rows", code);
  if (!array) return HeldArrow();
  return keep(std::move(array));
}

absl::StatusOr<std::shared_ptr<ArrowStream>> ArrowStream::Of(std::unique_ptr<StreamOwner> owner, ArrowMapping mapping,
                                                             ArrowKeeper keep) {
  std::shared_ptr<ArrowStream> stream(new ArrowStream(std::move(owner), std::move(mapping), std::move(keep)));
  if (!stream->mapping_.lacks_classes()) return stream;
  // The dictionary of an array without rows may be empty, too.
  do {
    HEADRACE_ASSIGN_OR_RETURN(stream->first_, NextOf(*stream->owner_->get(), stream->keep_));
  } while (stream->first_ != nullptr && stream->first_->length == 0);
  if (stream->first_ == nullptr) {
    return GraphError(
        "the Arrow stream has no rows, and so no dictionary that shows the classes; give them: classes=[…]");
  }
  HEADRACE_RETURN_IF_ERROR(stream->mapping_.AdoptDictionaries(*stream->first_));
  return stream;
}

absl::StatusOr<std::shared_ptr<const ArrowBatch>> ArrowStream::Next() {
  if (!failed_.ok()) return failed_;
  HeldArrow array = std::exchange(first_, nullptr);
  // Arrays without rows are no end.
  while (array == nullptr || array->length == 0) {
    absl::StatusOr<HeldArrow> next = NextOf(*owner_->get(), keep_);
    if (!next.ok()) return failed_ = std::move(next).status();
    if (*next == nullptr) return std::shared_ptr<const ArrowBatch>();
    array = *std::move(next);
  }
  absl::StatusOr<ArrowBatch> batch = ArrowBatch::Of(mapping_, array, rows_, last_.get());
  if (!batch.ok()) return failed_ = std::move(batch).status();
  rows_ += static_cast<uint64_t>(batch->rows());
  last_ = std::make_shared<const ArrowBatch>(*std::move(batch));
  return last_;
}

}  // namespace headrace
