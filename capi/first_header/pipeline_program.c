/* As program.c, for whole pipelines: built with the first header, and run with the libheadrace_engine.so of today. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "capi/first_header/headrace.h"

static int failures = 0;

static void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "failed: %s\n", what);
  failures = 1;
}

static void expect_ok(hr_status* status) {
  if (status == NULL) return;
  fprintf(stderr, "failed: %s\n", hr_status_text(status));
  failures = 1;
  hr_status_free(status);
}

/* The graph of hr.Range(3). */
static const char kRange[] =
    "\010\002\022b\n\005Range\020\002\"\n\n\004name\022\002\n\000\"\n\n\004seed\022\002\n\000\"\r\n\007shuffle\022\002"
    "\020\000"
    "\"\013\n\005start\022\002\030\000\"\n\n\004step\022\002\030\001\"\n\n\004stop\022\002\030\003:\013\n\007range."
    "p\020\003"
    "\"\016headrace 0.1.0";

static hr_pipeline* open_range(const hr_tensor* state) {
  hr_option option = {.size = sizeof option};
  hr_pipeline_options options = {.size = sizeof options};
  hr_pipeline* pipeline = NULL;
  option.name = "seed";
  option.number = 1;
  options.bytes = kRange;
  options.byte_count = sizeof kRange - 1;
  options.options = &option;
  options.option_count = 1;
  if (state != NULL) {
    options.state = state->data;
    options.state_bytes = state->bytes;
  }
  expect_ok(hr_pipeline_open(&options, &pipeline));
  return pipeline;
}

/* -1: the epoch has ended. */
static int64_t next_number(hr_pipeline* pipeline) {
  hr_tensor output = {.size = sizeof output};
  int32_t row = 0;
  int64_t number = -1;
  expect_ok(hr_pipeline_next(pipeline, &output, 1, &row));
  if (row == 0) return -1;
  expect(output.dtype == HR_INT64 && output.axes == 0 && output.bytes == sizeof number, "the type of a row");
  if (output.data != NULL) memcpy(&number, output.data, sizeof number);
  hr_release(&output);
  return number;
}

static void go_on(hr_pipeline* pipeline) {
  hr_tensor state = {.size = sizeof state};
  hr_pipeline* again = NULL;
  expect_ok(hr_pipeline_state(pipeline, &state));
  expect(state.dtype == HR_BYTES && state.bytes > 0, "a state");
  again = open_range(&state);
  expect(next_number(again) == 1, "the row after a state");
  hr_pipeline_close(again);
  hr_release(&state);
}

int main(void) {
  hr_pipeline* pipeline = open_range(NULL);
  hr_column column = {.size = sizeof column};
  hr_tensor text = {.size = sizeof text};
  expect(hr_pipeline_column_count(pipeline) == 1, "the number of columns");
  expect_ok(hr_pipeline_column(pipeline, 0, &column));
  expect(column.name != NULL && column.dtype == HR_INT64 && column.axes == 0, "a column");
  expect(next_number(pipeline) == 0, "the first row");
  go_on(pipeline);
  expect(next_number(pipeline) == 1 && next_number(pipeline) == 2 && next_number(pipeline) == -1, "an epoch");
  expect_ok(hr_pipeline_next_epoch(pipeline));
  expect(next_number(pipeline) == 0, "the next epoch");
  expect_ok(hr_pipeline_explain(pipeline, &text));
  expect(text.dtype == HR_STRING && text.bytes > 0, "an explanation");
  hr_release(&text);
  hr_pipeline_close(pipeline);
  return failures;
}
