/* A program that was built with the first header of the interface, version 1, which is kept beside it. Both stay as
 * they are: what this program does works with every later library. */
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

/* Expects a status of that kind whose text holds `part`, and frees it. */
static void expect_status(hr_status* status, hr_kind kind, const char* part) {
  if (hr_status_kind(status) != (int32_t)kind || strstr(hr_status_text(status), part) == NULL) {
    fprintf(stderr, "got %d: %s\n", (int)hr_status_kind(status), hr_status_text(status));
    expect(0, part);
  }
  hr_status_free(status);
}

/* A graph of one column "x" of any type, which it gives back: format 2, and a node Input. */
static const unsigned char kPassing[] = {0x08, 0x02, 0x12, 0x28, 0x0a, 0x05, 'I',  'n',  'p', 'u',  't',
                                         0x22, 0x1f, 0x0a, 0x07, 'c',  'o',  'l',  'u',  'm', 'n',  's',
                                         0x12, 0x14, 'b',  0x12, 0x0a, 0x10, 0x0a, 0x01, 'x', 0x12, 0x0b,
                                         0x0a, 0x07, 'u',  'n',  'k',  'n',  'o',  'w',  'n', 0x18, 0x01};

static hr_graph* open_passing(void) {
  hr_open_options options = {.size = sizeof options};
  hr_graph* graph = NULL;
  options.bytes = kPassing;
  options.byte_count = sizeof kPassing;
  expect_status(hr_open(&options, &graph), HR_OK, "");
  return graph;
}

static void describe(const hr_graph* graph) {
  hr_column column = {.size = sizeof column};
  expect(hr_input_count(graph) == 1 && hr_output_count(graph) == 1, "the number of columns");
  expect_status(hr_input(graph, 0, &column), HR_OK, "");
  expect(strcmp(column.name, "x") == 0 && column.dtype == HR_UNKNOWN && column.axes == -1, "an input");
  expect_status(hr_output(graph, 0, &column), HR_OK, "");
  expect(strcmp(column.name, "x") == 0 && column.size == sizeof column, "an output");
  expect_status(hr_output(graph, 1, &column), HR_ARGUMENT_ERROR, "index");
  expect(strlen(hr_graph_hash(graph)) == 32, "the hash of a graph");
}

static hr_tensor numbers_of(int64_t* numbers) {
  hr_tensor tensor = {.size = sizeof tensor};
  tensor.dtype = HR_INT64;
  tensor.axes = 1;
  tensor.shape[0] = 2;
  tensor.data = numbers;
  tensor.bytes = 2 * sizeof *numbers;
  return tensor;
}

static void run_requests(const hr_graph* graph) {
  int64_t numbers[2][2] = {{3, 5}, {7, 11}};
  int64_t copies[2][2] = {{0, 0}, {0, 0}};
  hr_tensor inputs[2] = {numbers_of(numbers[0]), numbers_of(numbers[1])};
  hr_tensor outputs[2] = {{.size = sizeof(hr_tensor)}, {.size = sizeof(hr_tensor)}};
  hr_status* statuses[2] = {NULL, NULL};
  hr_pool* pool = NULL;
  expect_status(hr_run(graph, &inputs[1], 1, &outputs[0], 1), HR_OK, "");
  expect(outputs[0].dtype == HR_INT64 && outputs[0].axes == 1 && outputs[0].shape[0] == 2, "the type of an output");
  expect(outputs[0].bytes == sizeof numbers[1] && memcmp(outputs[0].data, numbers[1], sizeof numbers[1]) == 0,
         "the numbers of an output");
  hr_release(&outputs[0]);
  expect(outputs[0].data == NULL && outputs[0].owner == NULL, "a released output");

  expect_status(hr_pool_make(2, &pool), HR_OK, "");
  outputs[0] = numbers_of(copies[0]);
  outputs[1] = numbers_of(copies[1]);
  expect_status(hr_run_many(graph, 2, inputs, 1, outputs, 1, statuses, pool), HR_OK, "");
  expect_status(statuses[0], HR_OK, "");
  expect_status(statuses[1], HR_OK, "");
  expect(memcmp(copies, numbers, sizeof numbers) == 0, "the caller's memory");
  hr_pool_close(pool);
}

static void run_strings(const hr_graph* graph) {
  char text[] = "abcde";
  const int64_t offsets[3] = {0, 2, 5};
  hr_tensor input = {.size = sizeof input};
  hr_tensor output = {.size = sizeof output};
  input.dtype = HR_STRING;
  input.axes = 1;
  input.shape[0] = 2;
  input.data = text;
  input.bytes = 5;
  input.offsets = offsets;
  expect_status(hr_run(graph, &input, 1, &output, 1), HR_OK, "");
  expect(output.dtype == HR_STRING && output.offsets != NULL && output.offsets[1] == 2 && output.offsets[2] == 5,
         "where strings end");
  expect(output.bytes == 5 && memcmp(output.data, text, 5) == 0, "the bytes of strings");
  hr_release(&output);
}

static void expect_errors(void) {
  hr_open_options options = {.size = sizeof options, .verify = 1};
  hr_graph* none = NULL;
  hr_status* status = NULL;
  options.path = "no/such/model.onnx";
  status = hr_open(&options, &none);
  expect(strcmp(hr_status_file(status), options.path) == 0, "the file of a status");
  expect(hr_status_operator(status)[0] == 0 && hr_status_location(status)[0] == 0 && hr_status_column(status)[0] == 0,
         "what a status does not know");
  expect_status(status, HR_NOT_FOUND_ERROR, "no/such/model.onnx");
  expect_status(hr_load_plugin("no/such/plugin.so"), HR_NOT_FOUND_ERROR, "no/such/plugin.so");
  expect_status(hr_from_dlpack(NULL, NULL), HR_ARGUMENT_ERROR, "NULL");
  expect_status(hr_to_dlpack(NULL, NULL), HR_ARGUMENT_ERROR, "NULL");
}

int main(void) {
  hr_graph* graph = open_passing();
  expect(hr_abi() >= HEADRACE_ABI && hr_version()[0] != 0, "the version of the interface");
  if (graph != NULL) {
    describe(graph);
    run_requests(graph);
    run_strings(graph);
  }
  expect_errors();
  hr_close(graph);
  return failures;
}
