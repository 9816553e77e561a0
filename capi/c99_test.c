/* A program in C99 against the library as others link it: the interface needs no C++ of its users. */
#include <stdio.h>
#include <string.h>

#include "headrace.h"

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
  hr_status* status = NULL;
  options.bytes = kPassing;
  options.byte_count = sizeof kPassing;
  status = hr_open(&options, &graph);
  expect_status(status, HR_OK, "");
  return graph;
}

static void run_request(const hr_graph* graph) {
  int64_t numbers[2] = {3, 5};
  int64_t copy[2] = {0, 0};
  hr_tensor input = {.size = sizeof input};
  hr_tensor output = {.size = sizeof output};
  input.dtype = HR_INT64;
  input.axes = 1;
  input.shape[0] = 2;
  input.data = numbers;
  input.bytes = sizeof numbers;
  expect_status(hr_run(graph, &input, 1, &output, 1), HR_OK, "");
  expect(output.dtype == HR_INT64 && output.axes == 1 && output.shape[0] == 2, "the type of an output");
  expect(output.data != numbers && output.bytes == sizeof numbers, "memory of its own");
  expect(output.data != NULL && memcmp(output.data, numbers, sizeof numbers) == 0, "the bytes of an output");
  hr_release(&output);
  expect(output.data == NULL && output.owner == NULL, "a released output");

  output = input;
  output.data = copy;
  expect_status(hr_run(graph, &input, 1, &output, 1), HR_OK, "");
  expect(output.data == copy && memcmp(copy, numbers, sizeof numbers) == 0, "memory of the caller's");
}

static void describe(const hr_graph* graph) {
  hr_column column = {.size = sizeof column};
  expect(hr_input_count(graph) == 1 && hr_output_count(graph) == 1, "the number of columns");
  expect_status(hr_input(graph, 0, &column), HR_OK, "");
  expect(strcmp(column.name, "x") == 0 && column.dtype == HR_UNKNOWN && column.axes == -1, "a column");
  expect(strlen(hr_graph_hash(graph)) == 32, "the hash of a graph");
}

int main(void) {
  hr_graph* graph = open_passing();
  hr_open_options options = {.size = sizeof options};
  hr_graph* none = NULL;
  hr_pool* pool = NULL;
  expect(hr_abi() == HEADRACE_ABI, "the version of the interface");
  if (graph != NULL) {
    describe(graph);
    run_request(graph);
  }
  options.path = "no/such/model.onnx";
  expect_status(hr_open(&options, &none), HR_NOT_FOUND_ERROR, "no/such/model.onnx");
  expect_status(hr_pool_make(2, &pool), HR_OK, "");
  hr_pool_close(pool);
  hr_close(graph);
  return failures;
}
