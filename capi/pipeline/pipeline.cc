#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "capi/call_status.h"
#include "capi/described_column.h"
#include "capi/given_output.h"
#include "capi/headrace.h"
#include "capi/pipeline/pipeline_request.h"
#include "capi/viewed_tensor.h"
#include "core/error.h"
#include "core/tensor.h"
#include "engine/front/session.h"
#include "engine/serve/column_error.h"
#include "ir/type.h"

// A session, and the columns of its rows as they are in the engine: lists as their values and splits.
struct hr_pipeline {
  std::unique_ptr<headrace::Session> session;
  headrace::ir::Schema schema;
};

namespace headrace::capi {
namespace {

absl::Status CheckPipeline(const hr_pipeline* pipeline) {
  if (pipeline == nullptr) return ArgumentError("pipeline is NULL");
  return pipeline->session->CheckProcess();
}

absl::Status CheckOutputs(const hr_pipeline& pipeline, const hr_tensor* outputs, size_t output_count) {
  const ir::Columns& columns = pipeline.schema.columns;
  if (output_count != columns.size()) {
    return ArgumentError("a row of the pipeline has ", columns.size(), " columns; got ", output_count, " outputs");
  }
  if (outputs == nullptr && output_count > 0) return ArgumentError("outputs is NULL");
  for (size_t i = 0; i < output_count; ++i) {
    HEADRACE_RETURN_IF_ERROR(CheckTensorSize(outputs[i]));
    if (outputs[i].data == nullptr) continue;
    return OfColumn(ArgumentError("outputs of a pipeline are allocated: set data to NULL, and hr_release() each"),
                    columns[i].name);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> Next(Session& session, absl::Span<hr_tensor> outputs) {
  const Session::Turn turn(session);
  HEADRACE_RETURN_IF_ERROR(turn.status());
  HEADRACE_ASSIGN_OR_RETURN(Session::Outcome outcome, session.Fetch(Pipeline::kForever));
  while (outcome == Session::Outcome::kNothingYet) {
    HEADRACE_ASSIGN_OR_RETURN(outcome, session.Fetch(Pipeline::kForever));
  }
  if (outcome == Session::Outcome::kEpochEnd) return false;
  GivenOutputs given;
  // Without memory the row waits.
  HEADRACE_RETURN_IF_ERROR(given.TakeRow(session.row().columns));
  given.Give(outputs);
  session.Given();
  return true;
}

absl::Status GiveBytes(DType dtype, std::string_view bytes, hr_tensor& output) {
  std::vector<Tensor> results(1);
  HEADRACE_ASSIGN_OR_RETURN(results[0], Tensor::CopyBytes(dtype, bytes));
  GivenOutputs given;
  HEADRACE_RETURN_IF_ERROR(given.TakeRow(results));
  given.Give(absl::MakeSpan(&output, 1));
  return absl::OkStatus();
}

absl::Status CheckAllocated(const hr_tensor* output, std::string_view name) {
  if (output == nullptr) return ArgumentError(name, " is NULL");
  HEADRACE_RETURN_IF_ERROR(CheckTensorSize(*output));
  if (output->data != nullptr) return ArgumentError(name, " is allocated: set its data to NULL");
  return absl::OkStatus();
}

}  // namespace
}  // namespace headrace::capi

hr_status* hr_pipeline_open(const hr_pipeline_options* options, hr_pipeline** pipeline) {
  return headrace::capi::Guarded([&]() -> absl::Status {
    if (pipeline == nullptr) return headrace::capi::ArgumentError("pipeline is NULL");
    *pipeline = nullptr;
    HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<headrace::Session> session, headrace::capi::SessionOf(options));
    headrace::ir::Schema schema = session->schema();
    *pipeline = new hr_pipeline{std::move(session), std::move(schema)};
    return absl::OkStatus();
  });
}

void hr_pipeline_close(hr_pipeline* pipeline) { delete pipeline; }

size_t hr_pipeline_column_count(const hr_pipeline* pipeline) {
  return pipeline == nullptr ? 0 : pipeline->schema.columns.size();
}

hr_status* hr_pipeline_column(const hr_pipeline* pipeline, size_t index, hr_column* column) {
  return headrace::capi::Guarded([&]() -> absl::Status {
    if (pipeline == nullptr) return headrace::capi::ArgumentError("pipeline is NULL");
    const headrace::ir::Columns& columns = pipeline->schema.columns;
    if (index >= columns.size()) {
      return headrace::capi::ArgumentError("index must be less than ", columns.size(), ", the number of columns; got ",
                                           index);
    }
    return headrace::capi::DescribeColumn(columns[index], column);
  });
}

hr_status* hr_pipeline_next(hr_pipeline* pipeline, hr_tensor* outputs, size_t output_count, int32_t* row) {
  return headrace::capi::Guarded([&]() -> absl::Status {
    HEADRACE_RETURN_IF_ERROR(headrace::capi::CheckPipeline(pipeline));
    if (row == nullptr) return headrace::capi::ArgumentError("row is NULL");
    *row = 0;
    HEADRACE_RETURN_IF_ERROR(headrace::capi::CheckOutputs(*pipeline, outputs, output_count));
    HEADRACE_ASSIGN_OR_RETURN(const bool given,
                              headrace::capi::Next(*pipeline->session, absl::MakeSpan(outputs, output_count)));
    *row = given ? 1 : 0;
    return absl::OkStatus();
  });
}

hr_status* hr_pipeline_next_epoch(hr_pipeline* pipeline) {
  return headrace::capi::Guarded([&]() -> absl::Status {
    HEADRACE_RETURN_IF_ERROR(headrace::capi::CheckPipeline(pipeline));
    const headrace::Session::Turn turn(*pipeline->session);
    HEADRACE_RETURN_IF_ERROR(turn.status());
    if (!pipeline->session->at_end()) {
      return headrace::capi::ArgumentError("the epoch is not at its end: take its rows first");
    }
    pipeline->session->Ask(pipeline->session->epoch());
    return absl::OkStatus();
  });
}

hr_status* hr_pipeline_state(hr_pipeline* pipeline, hr_tensor* state) {
  return headrace::capi::Guarded([&]() -> absl::Status {
    HEADRACE_RETURN_IF_ERROR(headrace::capi::CheckPipeline(pipeline));
    HEADRACE_RETURN_IF_ERROR(headrace::capi::CheckAllocated(state, "state"));
    HEADRACE_ASSIGN_OR_RETURN(const std::string bytes, pipeline->session->State());
    return headrace::capi::GiveBytes(headrace::DType::kBytes, bytes, *state);
  });
}

hr_status* hr_pipeline_explain(hr_pipeline* pipeline, hr_tensor* text) {
  return headrace::capi::Guarded([&]() -> absl::Status {
    HEADRACE_RETURN_IF_ERROR(headrace::capi::CheckPipeline(pipeline));
    HEADRACE_RETURN_IF_ERROR(headrace::capi::CheckAllocated(text, "text"));
    return headrace::capi::GiveBytes(headrace::DType::kString, pipeline->session->Explain(), *text);
  });
}
