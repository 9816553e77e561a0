/* prepare GRAPH_OR_MODEL PICTURE OUT
 *
 * Prepares a picture as training did, and writes the bytes of the result to OUT: what a model is given. Says dtype and
 * shape. GRAPH_OR_MODEL is a saved graph, or a model that one is attached to. */
#include <errno.h>
#include <headrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* const kDtypes[] = {"unknown", "bool",    "int8",   "int16",  "int32",   "int64",
                                      "uint8",   "uint16",  "uint32", "uint64", "float16", "bfloat16",
                                      "float32", "float64", "bytes",  "string"};

/* Says what is wrong, frees the status, and returns what main() does. */
static int fail(hr_status* status) {
  fprintf(stderr, "prepare: %s\n", hr_status_text(status));
  hr_status_free(status);
  return 1;
}

static int fail_file(const char* what, const char* path) {
  fprintf(stderr, "prepare: %s %s: %s\n", what, path, strerror(errno));
  return 1;
}

/* Reads a whole file, which the caller frees; NULL, and errno says why. */
static void* read_file(const char* path, size_t* bytes) {
  FILE* const file = fopen(path, "rb");
  char* contents = NULL;
  size_t room = 0;
  *bytes = 0;
  if (file == NULL) return NULL;
  for (;;) {
    char* grown = NULL;
    size_t got = 0;
    if (*bytes == room) {
      room = room == 0 ? 65536 : 2 * room;
      grown = realloc(contents, room);
      if (grown == NULL) break;
      contents = grown;
    }
    got = fread(contents + *bytes, 1, room - *bytes, file);
    *bytes += got;
    if (got == 0) {
      if (ferror(file)) break;
      fclose(file);
      return contents;
    }
  }
  free(contents);
  fclose(file);
  return NULL;
}

static int write_file(const char* path, const void* data, size_t bytes) {
  FILE* const file = fopen(path, "wb");
  if (file == NULL) return fail_file("cannot write", path);
  if (fwrite(data, 1, bytes, file) != bytes) {
    fclose(file);
    return fail_file("cannot write", path);
  }
  return fclose(file) == 0 ? 0 : fail_file("cannot write", path);
}

static void say_type(const hr_tensor* tensor) {
  int32_t axis = 0;
  printf("%s (", kDtypes[tensor->dtype]);
  for (axis = 0; axis < tensor->axes; ++axis) printf("%s%lld", axis == 0 ? "" : ", ", (long long)tensor->shape[axis]);
  printf("%s)\n", tensor->axes == 1 ? "," : "");
}

/* Gives the picture to the graph's one input, and writes its one output. */
static int prepare(const hr_graph* graph, void* picture, size_t bytes, const char* out) {
  hr_tensor input = {.size = sizeof input};
  hr_tensor output = {.size = sizeof output};
  hr_status* status = NULL;
  int code = 0;
  input.dtype = HR_BYTES;
  input.data = picture;
  input.bytes = bytes;
  status = hr_run(graph, &input, 1, &output, 1);
  if (status != NULL) return fail(status);
  code = write_file(out, output.data, output.bytes);
  if (code == 0) say_type(&output);
  hr_release(&output);
  return code;
}

int main(int count, char** arguments) {
  hr_open_options options = {.size = sizeof options};
  hr_graph* graph = NULL;
  hr_status* status = NULL;
  void* picture = NULL;
  size_t bytes = 0;
  int code = 0;
  if (count != 4) {
    fprintf(stderr, "usage: prepare GRAPH_OR_MODEL PICTURE OUT\n");
    return 2;
  }
  options.path = arguments[1];
  status = hr_open(&options, &graph);
  if (status != NULL) return fail(status);
  picture = read_file(arguments[2], &bytes);
  code = picture == NULL ? fail_file("cannot read", arguments[2]) : prepare(graph, picture, bytes, arguments[3]);
  free(picture);
  hr_close(graph);
  return code;
}
