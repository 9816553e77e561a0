// `HEADRACE_PLUGIN` declares kernels, sources and formats of a plugin in C++17, over headrace_plugin.h: classes instead
// of tables and callbacks, exceptions instead of results. Nothing of it crosses the interface, so compiler and standard
// library are the plugin's own choice.
//
//   class Scale {
//    public:
//     static headrace_plugin_cc::Declaration Declared();  // name, version, attributes, inputs and outputs, traits
//     // The types of the outputs, before anything runs and for rows, so that Apply gets only inputs that it accepted.
//     // It depends on its arguments alone, and is cheap.
//     static std::vector<headrace_plugin_cc::Type> Infer(const headrace_plugin_cc::Attributes& attributes,
//                                                        const std::vector<headrace_plugin_cc::Type>& inputs);
//     explicit Scale(const headrace_plugin_cc::Attributes& attributes);
//     void Apply(headrace_plugin_cc::Row& row) const;
//   };
//
//   class Squares : public headrace_plugin_cc::Source {  // rows by number
//    public:
//     static headrace_plugin_cc::Declaration Declared();
//     // Of the attributes alone, and cheap.
//     static std::vector<headrace_plugin_cc::Column> Columns(const headrace_plugin_cc::Attributes& attributes);
//     explicit Squares(const headrace_plugin_cc::Attributes& attributes);
//     uint64_t Rows() const;
//     uint64_t Fingerprint() const;  // as in headrace_rows; may be left out
//     void Read(uint64_t row, headrace_plugin_cc::Outputs& outputs) const;
//   };
//
//   class Readings : public headrace_plugin_cc::Format {  // rows of files, which are read in splits
//    public:
//     static headrace_plugin_cc::Declaration Declared();
//     static std::vector<headrace_plugin_cc::Column> Columns(const headrace_plugin_cc::Attributes& attributes);
//     explicit Readings(const headrace_plugin_cc::Attributes& attributes);
//     // As headrace_format's; left out where files cannot be cut.
//     int64_t Find(headrace_plugin_cc::File& file, int64_t byte) const;
//     // Of the rows that begin in bytes `begin` to `end`. One thread at a time uses it.
//     class Reader {
//      public:
//       Reader(const Readings& format, headrace_plugin_cc::File& file, int64_t begin, int64_t end);
//       // Gives the next row: row.Begin(), then its outputs. False: there is none.
//       bool Next(headrace_plugin_cc::File& file, headrace_plugin_cc::FileRow& row);
//     };
//   };
//   HEADRACE_PLUGIN("myops", "1.0", "What it is for.", Scale, Squares, Readings)
//
// Build with -fvisibility=hidden, or with the classes in an anonymous namespace: otherwise static variables of classes
// of one name are shared by all plugins.
//
// Threads: a kernel, source or format is made once from its attributes and is const afterwards; any thread may
// call it. Everything else belongs to the thread of its call.
#ifndef HEADRACE_PLUGIN_HPP_
#define HEADRACE_PLUGIN_HPP_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "headrace_plugin.h"

// Hidden: otherwise two plugins with classes of one name would share their tables.
namespace headrace_plugin_cc __attribute__((visibility("hidden"))) {

  // Thrown for a failure; its text continues a sentence that begins with the operator's name. Any other
  // exception becomes HEADRACE_FUNCTION_ERROR with its what().
  class Error : public std::runtime_error {
   public:
    Error(headrace_result result, const std::string& text) : std::runtime_error(text), result_(result) {}
    headrace_result result() const { return result_; }

   private:
    headrace_result result_;
  };

  using Shape = std::vector<int64_t>;

  struct Type {
    int32_t dtype = HEADRACE_UNKNOWN;  // a headrace_dtype
    std::optional<Shape> shape = {};   // nullopt: not known; a length of -1: differs from row to row
  };

  template <typename T>
  struct DTypeOf;
#define HEADRACE_PLUGIN_DTYPE(cpp, name)   \
  template <>                              \
  struct DTypeOf<cpp> {                    \
    static constexpr int32_t value = name; \
  }
  HEADRACE_PLUGIN_DTYPE(bool, HEADRACE_BOOL);
  HEADRACE_PLUGIN_DTYPE(int8_t, HEADRACE_INT8);
  HEADRACE_PLUGIN_DTYPE(int16_t, HEADRACE_INT16);
  HEADRACE_PLUGIN_DTYPE(int32_t, HEADRACE_INT32);
  HEADRACE_PLUGIN_DTYPE(int64_t, HEADRACE_INT64);
  HEADRACE_PLUGIN_DTYPE(uint8_t, HEADRACE_UINT8);
  HEADRACE_PLUGIN_DTYPE(uint16_t, HEADRACE_UINT16);
  HEADRACE_PLUGIN_DTYPE(uint32_t, HEADRACE_UINT32);
  HEADRACE_PLUGIN_DTYPE(uint64_t, HEADRACE_UINT64);
  HEADRACE_PLUGIN_DTYPE(float, HEADRACE_FLOAT32);
  HEADRACE_PLUGIN_DTYPE(double, HEADRACE_FLOAT64);
#undef HEADRACE_PLUGIN_DTYPE

  // A column of the rows of a source or a format.
  struct Column {
    std::string name;
    Type type;
  };

  // Bases that say what a class without them is not: a kernel.
  class Source {};
  class Format {};

  // What a kernel, source or format declares. Doc strings and names are copied. It is moved, not copied: its tables
  // point into it. So a function that makes one names it and returns it:
  //   Declaration declaration("Scale", 1, "Multiplies."); declaration.Float(…).Default("2.0"); return declaration;
  class Declaration {
   public:
    Declaration(const char* name, uint32_t version, const char* summary) {
      kernel_.struct_size = sizeof(kernel_);
      kernel_.name = Keep(name);
      kernel_.version = version;
      kernel_.summary = Keep(summary);
      kernel_.least_inputs = kernel_.most_inputs = kernel_.outputs = 1;
    }
    Declaration(const Declaration&) = delete;
    Declaration(Declaration&&) = default;

    Declaration& Doc(const char* text) { return kernel_.doc = Keep(text), *this; }
    Declaration& Example(const char* text) { return kernel_.example = Keep(text), *this; }
    // Of a kernel; UINT32_MAX: any number.
    Declaration& Inputs(uint32_t least, uint32_t most) {
      return kernel_.least_inputs = least, kernel_.most_inputs = most, *this;
    }
    Declaration& Outputs(uint32_t count) { return kernel_.outputs = count, *this; }
    Declaration& Random() { return kernel_.traits |= HEADRACE_RANDOM, *this; }
    Declaration& NotDeterministic() { return kernel_.traits |= HEADRACE_NOT_DETERMINISTIC, *this; }
    Declaration& ByBatch() { return kernel_.traits |= HEADRACE_BY_BATCH, *this; }
    Declaration& Pointwise() { return kernel_.traits |= HEADRACE_POINTWISE, *this; }
    // Of a source.
    Declaration& Waits() { return kernel_.traits |= HEADRACE_WAITS, *this; }

    Declaration& Bool(const char* name, const char* doc) { return Add(HEADRACE_ATTRIBUTE_BOOL, name, doc); }
    Declaration& Int(const char* name, const char* doc) { return Add(HEADRACE_ATTRIBUTE_INT, name, doc); }
    Declaration& Float(const char* name, const char* doc) { return Add(HEADRACE_ATTRIBUTE_FLOAT, name, doc); }
    Declaration& Text(const char* name, const char* doc) { return Add(HEADRACE_ATTRIBUTE_TEXT, name, doc); }
    Declaration& Ints(const char* name, const char* doc) { return Add(HEADRACE_ATTRIBUTE_INTS, name, doc); }
    Declaration& Floats(const char* name, const char* doc) { return Add(HEADRACE_ATTRIBUTE_FLOATS, name, doc); }
    Declaration& Texts(const char* name, const char* doc) { return Add(HEADRACE_ATTRIBUTE_TEXTS, name, doc); }
    Declaration& DType(const char* name, const char* doc) { return Add(HEADRACE_ATTRIBUTE_DTYPE, name, doc); }

    // Of the attribute declared last. The default is in Python's notation: "2.0", "'up'", "None".
    // Errors: std::logic_error if there is none.
    Declaration& Default(const char* value) { return Last().default_value = Keep(value), *this; }
    Declaration& Nullable() { return Last().flags |= HEADRACE_NULLABLE, *this; }
    // Of Int and Ints a whole number.
    template <typename Number>
    Declaration& Minimum(Number value) {
      return Bound(HEADRACE_HAS_MINIMUM, &headrace_attribute::minimum, &headrace_attribute::integer_minimum, value);
    }
    template <typename Number>
    Declaration& Maximum(Number value) {
      return Bound(HEADRACE_HAS_MAXIMUM, &headrace_attribute::maximum, &headrace_attribute::integer_maximum, value);
    }
    template <typename Number>
    Declaration& Above(Number value) {
      return Bound(HEADRACE_HAS_MINIMUM | HEADRACE_EXCLUSIVE_MINIMUM, &headrace_attribute::minimum,
                   &headrace_attribute::integer_minimum, value);
    }
    Declaration& Choices(const std::vector<const char*>& choices) {
      std::vector<const char*>& kept = choices_.emplace_back();
      for (const char* choice : choices) kept.push_back(Keep(choice));
      kept.push_back(nullptr);
      return Last().choices = kept.data(), *this;
    }
    Declaration& Lengths(std::vector<int32_t> lengths) {
      lengths.push_back(0);
      return Last().lengths = lengths_.emplace_back(std::move(lengths)).data(), *this;
    }
    Declaration& Broadcast() { return Last().flags |= HEADRACE_BROADCAST, *this; }

    const std::deque<headrace_attribute>& attributes() const { return attributes_; }
    uint32_t outputs() const { return kernel_.outputs; }
    // Without callbacks; valid as long as this.
    headrace_kernel& Finish() {
      pointers_.clear();
      for (const headrace_attribute& attribute : attributes_) pointers_.push_back(&attribute);
      pointers_.push_back(nullptr);
      kernel_.attributes = pointers_.data();
      return kernel_;
    }

   private:
    const char* Keep(const char* text) { return texts_.emplace_back(text).c_str(); }
    Declaration& Add(int32_t type, const char* name, const char* doc) {
      headrace_attribute& added = attributes_.emplace_back();
      added = {};
      added.struct_size = sizeof(added);
      added.type = type;
      added.name = Keep(name);
      added.doc = Keep(doc);
      return *this;
    }
    headrace_attribute& Last() {
      if (attributes_.empty()) throw std::logic_error("an operator says something of an attribute before it has one");
      return attributes_.back();
    }
    template <typename Number>
    Declaration& Bound(uint64_t flags, double headrace_attribute::* real, int64_t headrace_attribute::* whole,
                       Number value) {
      headrace_attribute& last = Last();
      last.flags |= flags;
      if (last.type == HEADRACE_ATTRIBUTE_INT || last.type == HEADRACE_ATTRIBUTE_INTS) {
        if (static_cast<Number>(static_cast<int64_t>(value)) != value) {
          throw std::logic_error("an operator bounds whole numbers by another number");
        }
        last.*whole = static_cast<int64_t>(value);
      } else {
        last.*real = static_cast<double>(value);
      }
      return *this;
    }

    headrace_kernel kernel_ = {};
    // Deques, because elements stay where they are when others are added, and when the whole is moved.
    std::deque<headrace_attribute> attributes_;
    std::deque<std::string> texts_;
    std::deque<std::vector<const char*>> choices_;
    std::deque<std::vector<int32_t>> lengths_;
    std::vector<const headrace_attribute*> pointers_;
  };

  // The values of the attributes, by name; checked against the declaration, defaults filled in. Errors, as
  // HEADRACE_FUNCTION_ERROR: an attribute that is not declared, or as another type, and one that is None (IsNone()
  // apart).
  class Attributes {
   public:
    Attributes(const Declaration& declaration, const headrace_value* const* values)
        : declaration_(declaration), values_(values) {}

    bool IsNone(const char* name) const { return At(name).none != 0; }
    bool Bool(const char* name) const { return Of(name, HEADRACE_ATTRIBUTE_BOOL).integer != 0; }
    int64_t Int(const char* name) const { return Of(name, HEADRACE_ATTRIBUTE_INT).integer; }
    double Float(const char* name) const { return Of(name, HEADRACE_ATTRIBUTE_FLOAT).real; }
    std::string Text(const char* name) const {
      const headrace_value& value = Of(name, HEADRACE_ATTRIBUTE_TEXT);
      return {value.text, value.count};
    }
    int32_t DType(const char* name) const { return static_cast<int32_t>(Of(name, HEADRACE_ATTRIBUTE_DTYPE).integer); }
    std::vector<int64_t> Ints(const char* name) const {
      const headrace_value& value = Of(name, HEADRACE_ATTRIBUTE_INTS);
      return {value.ints, value.ints + value.count};
    }
    std::vector<double> Floats(const char* name) const {
      const headrace_value& value = Of(name, HEADRACE_ATTRIBUTE_FLOATS);
      return {value.reals, value.reals + value.count};
    }
    std::vector<std::string> Texts(const char* name) const {
      const headrace_value& value = Of(name, HEADRACE_ATTRIBUTE_TEXTS);
      return {value.texts, value.texts + value.count};
    }

   private:
    const headrace_value& Of(const char* name, int32_t type) const {
      const headrace_value& value = At(name);
      if (value.type != type) Refuse("asks for an attribute as another type than it declares: ", name);
      if (value.none != 0) Refuse("asks for the value of an attribute that is None: ", name);
      return value;
    }
    [[noreturn]] static void Refuse(const char* how, const char* name) {
      throw Error(HEADRACE_FUNCTION_ERROR, std::string(how) + name);
    }
    const headrace_value& At(const char* name) const {
      size_t i = 0;
      for (const headrace_attribute& attribute : declaration_.attributes()) {
        if (std::strcmp(attribute.name, name) == 0) return *values_[i];
        ++i;
      }
      Refuse("asks for an attribute that it does not declare: ", name);
    }

    const Declaration& declaration_;
    const headrace_value* const* values_;
  };

  inline const headrace_host* host = nullptr;

  // The host has the text of its own error.
  struct Refused {
    int32_t result;
  };
  inline void Check(int32_t result) {
    if (result != HEADRACE_OK) throw Refused{result};
  }

  // The outputs of one row, which are in memory of Headrace's.
  class Outputs {
   public:
    explicit Outputs(headrace_call* call) : call_(call) {}
    Outputs(const Outputs&) = delete;

    // Each output once, by one of these.
    template <typename T>
    T* Allocate(uint32_t output, const Shape& shape) {
      return static_cast<T*>(Allocate(output, DTypeOf<T>::value, shape));
    }
    void* Allocate(uint32_t output, int32_t dtype, const Shape& shape) {
      void* memory = nullptr;
      Check(host->allocate(call_, output, dtype, static_cast<int32_t>(shape.size()), shape.data(), &memory));
      return memory;
    }
    void GiveStrings(uint32_t output, int32_t dtype, const Shape& shape, const std::vector<std::string>& strings) {
      std::string joined;
      std::vector<int64_t> offsets = {0};
      for (const std::string& each : strings) {
        joined += each;
        offsets.push_back(static_cast<int64_t>(joined.size()));
      }
      Check(host->give_strings(call_, output, dtype, static_cast<int32_t>(shape.size()), shape.data(), joined.data(),
                               joined.size(), offsets.data()));
    }
    bool stopped() { return host->stopped(call_) != 0; }

   protected:
    headrace_call* call_;
  };

  // One call of Apply: its inputs, row-major and read-only, the memory of its outputs, and its random numbers.
  class Row : public Outputs {
   public:
    Row(headrace_call* call, const headrace_tensor* const* inputs, uint32_t count)
        : Outputs(call), inputs_(inputs), count_(count) {}

    uint32_t inputs() const { return count_; }
    const headrace_tensor& input(uint32_t i) const { return *inputs_[i]; }
    int32_t dtype(uint32_t i) const { return inputs_[i]->dtype; }
    Shape shape(uint32_t i) const { return {inputs_[i]->shape, inputs_[i]->shape + inputs_[i]->axes}; }
    int64_t elements(uint32_t i) const {
      int64_t elements = 1;
      for (const int64_t length : shape(i)) elements *= length;
      return elements;
    }
    // T is what Infer() made sure of.
    template <typename T>
    const T* data(uint32_t i) const {
      return static_cast<const T*>(inputs_[i]->data);
    }
    // Element k of bytes or strings.
    std::string string(uint32_t i, int64_t k = 0) const {
      const int64_t* const at = inputs_[i]->offsets + k;
      return {data<char>(i) + at[0], static_cast<size_t>(at[1] - at[0])};
    }
    // Besides Allocate() and GiveStrings().
    void GiveInput(uint32_t output, uint32_t input) { Check(host->give_input(call_, output, input)); }

    // The row's own random numbers, of a kernel that declares Random().
    double Uniform() {
      double number = 0;
      Check(host->random_uniform(call_, &number, 1));
      return number;
    }
    double Normal() {
      double number = 0;
      Check(host->random_normal(call_, &number, 1));
      return number;
    }
    uint64_t Below(uint64_t bound) {
      uint64_t number = 0;
      Check(host->random_below(call_, bound, &number, 1));
      return number;
    }
    headrace_identity identity() {
      headrace_identity identity = {};
      identity.struct_size = sizeof(identity);
      Check(host->identity(call_, &identity));
      return identity;
    }

    // Of a kernel that declares ByBatch(): whether row `row` of the batch must not be joined with others.
    bool IsFiller(uint64_t row) {
      const uint8_t* marks = nullptr;
      uint64_t count = 0;
      Check(host->fillers(call_, &marks, &count));
      return row < count && marks[row] != 0;
    }

    // A note of the row, from an earlier time; empty: there is none.
    std::string FindNote(const char* key) {
      if (!HostHasNotes()) return {};
      const void* data = nullptr;
      uint64_t bytes = 0;
      Check(host->find_note(call_, key, &data, &bytes));
      return bytes == 0 ? std::string() : std::string(static_cast<const char*>(data), bytes);
    }
    // Leaves bytes for the next time, at most 16 MiB; of none, and of more, no note is left. `wrong`: those found were
    // made of other bytes, or damaged.
    void LeaveNote(const char* key, const std::string& bytes, bool wrong = false) {
      if (HostHasNotes()) Check(host->leave_note(call_, key, bytes.data(), bytes.size(), wrong ? 1 : 0));
    }
    // Counts a row for which a note saved work.
    void CountNote() {
      if (HostHasNotes()) Check(host->count_note(call_));
    }

   private:
    // A plugin of kernels alone needs version 1.0, and its host may have no more.
    static bool HostHasNotes() {
      return host->struct_size >= offsetof(headrace_host, count_note) + sizeof(host->count_note);
    }

    const headrace_tensor* const* inputs_;
    uint32_t count_;
  };

  // The file of one call of a format: bytes that Headrace reads.
  class File {
   public:
    File(headrace_call* call, headrace_file* file) : call_(call), file_(file) {}
    File(const File&) = delete;

    int64_t size() const {
      int64_t bytes = 0;
      Check(host->file_size(call_, file_, &bytes));
      return bytes;
    }
    // Fails, as an error of the data, if the file ends before.
    void Read(int64_t offset, uint64_t bytes, void* target) {
      Check(host->read_file(call_, file_, offset, bytes, target));
    }
    std::string Read(int64_t offset, uint64_t bytes) {
      // Before memory is taken, because the length may be damaged.
      const int64_t left = size() - offset;
      if (left < 0 || bytes > static_cast<uint64_t>(left)) {
        throw Error(HEADRACE_DATA_ERROR, "needs " + std::to_string(bytes) + " bytes from byte " +
                                             std::to_string(offset) + " on, and the file has " +
                                             std::to_string(size()));
      }
      std::string read(bytes, 0);
      Read(offset, bytes, read.data());
      return read;
    }
    // A number in the machine's byte order.
    template <typename T>
    T Number(int64_t offset) {
      T number;
      Read(offset, sizeof(T), &number);
      return number;
    }

   private:
    headrace_call* call_;
    headrace_file* file_;
  };

  // The row that a Reader gives in one call of Next.
  class FileRow : public Outputs {
   public:
    using Outputs::Outputs;
    // First: the row takes the bytes `begin` to `end` of the file. What is thrown after it is an error of the row, and
    // Next is called for the one after it where such rows are left out.
    void Begin(int64_t begin, int64_t end) {
      Check(host->begin_row(call_, begin, end));
      begun_ = true;
    }
    bool begun() const { return begun_; }

   private:
    bool begun_ = false;
  };

  // Runs what callbacks do; exceptions become results.
  template <typename Body>
  int32_t Caught(headrace_call * call, Body body) {
    try {
      body();
      return HEADRACE_OK;
    } catch (const Refused& refused) {
      return refused.result;
    } catch (const Error& error) {
      return host->fail(call, error.result(), error.what());
    } catch (const std::bad_alloc&) {
      return host->fail(call, HEADRACE_RESOURCE_ERROR, "found no more memory");
    } catch (const std::exception& error) {
      return host->fail(call, HEADRACE_FUNCTION_ERROR, error.what());
    } catch (...) {
      return host->fail(call, HEADRACE_FUNCTION_ERROR, "threw what is no std::exception");
    }
  }

  // The declaration of class K.
  template <typename K>
  Declaration& DeclarationOf() {
    // Never destroyed, because threads may run operators while the process exits.
    static Declaration& declaration = *new Declaration(K::Declared());
    return declaration;
  }

  // The callbacks of kernel class K.
  template <typename K>
  class KernelOf {
   public:
    static const headrace_kernel* Table() {
      headrace_kernel& kernel = Declared().Finish();
      kernel.infer = Infer;
      kernel.create = Create;
      kernel.destroy = [](void* state) { delete static_cast<K*>(state); };
      kernel.apply = Apply;
      return &kernel;
    }

   private:
    static Declaration& Declared() { return DeclarationOf<K>(); }

    static int32_t Infer(headrace_call* call, const headrace_value* const* values, const headrace_type* const* inputs,
                         uint32_t count, headrace_type* const* outputs) {
      return Caught(call, [&] {
        std::vector<Type> given(count);
        for (uint32_t i = 0; i < count; ++i) {
          given[i].dtype = inputs[i]->dtype;
          if (inputs[i]->axes >= 0) given[i].shape.emplace(inputs[i]->shape, inputs[i]->shape + inputs[i]->axes);
        }
        const std::vector<Type> made = K::Infer(Attributes(Declared(), values), given);
        if (made.size() != Declared().outputs()) {
          throw Error(HEADRACE_FUNCTION_ERROR, "infers other outputs than it declares");
        }
        for (size_t i = 0; i < made.size(); ++i) {
          outputs[i]->dtype = made[i].dtype;
          outputs[i]->axes = made[i].shape.has_value() ? static_cast<int32_t>(made[i].shape->size()) : -1;
          if (outputs[i]->axes > HEADRACE_MOST_AXES) throw Error(HEADRACE_FUNCTION_ERROR, "infers too many axes");
          for (int32_t axis = 0; axis < outputs[i]->axes; ++axis) outputs[i]->shape[axis] = (*made[i].shape)[axis];
        }
      });
    }
    static int32_t Create(headrace_call* call, const headrace_value* const* values, void** state) {
      return Caught(call, [&] { *state = new K(Attributes(Declared(), values)); });
    }
    static int32_t Apply(headrace_call* call, const void* state, const headrace_tensor* const* inputs, uint32_t count) {
      return Caught(call, [&] {
        Row row(call, inputs, count);
        static_cast<const K*>(state)->Apply(row);
      });
    }
  };

  // What sources and formats have in common: adds the columns of class K.
  template <typename K>
  int32_t AddColumns(headrace_call * call, const headrace_value* const* values) {
    return Caught(call, [&] {
      for (const Column& column : K::Columns(Attributes(DeclarationOf<K>(), values))) {
        const bool known = column.type.shape.has_value();
        Check(host->add_column(call, column.name.c_str(), column.type.dtype,
                               known ? static_cast<int32_t>(column.type.shape->size()) : -1,
                               known ? column.type.shape->data() : nullptr));
      }
    });
  }
  template <typename Table>
  Table Named(const headrace_kernel& declared) {
    Table table = {};
    table.struct_size = sizeof(table);
    table.version = declared.version;
    table.name = declared.name;
    table.summary = declared.summary;
    table.doc = declared.doc;
    table.example = declared.example;
    table.traits = declared.traits;
    table.attributes = declared.attributes;
    return table;
  }

  template <typename K, typename = void>
  struct HasFingerprint : std::false_type {};
  template <typename K>
  struct HasFingerprint<K, std::void_t<decltype(&K::Fingerprint)>> : std::true_type {};
  template <typename K, typename = void>
  struct HasFind : std::false_type {};
  template <typename K>
  struct HasFind<K, std::void_t<decltype(&K::Find)>> : std::true_type {};

  // The callbacks of source class K.
  template <typename K>
  class SourceOf {
   public:
    static const headrace_source* Table() {
      static headrace_source source = Named<headrace_source>(DeclarationOf<K>().Finish());
      source.columns = AddColumns<K>;
      source.open = Open;
      source.destroy = [](void* state) { delete static_cast<K*>(state); };
      source.read = [](headrace_call* call, const void* state, uint64_t row) {
        return Caught(call, [&] {
          Outputs outputs(call);
          static_cast<const K*>(state)->Read(row, outputs);
        });
      };
      return &source;
    }

   private:
    static int32_t Open(headrace_call* call, const headrace_value* const* values, void** state, headrace_rows* rows) {
      return Caught(call, [&] {
        auto made = std::make_unique<K>(Attributes(DeclarationOf<K>(), values));
        rows->count = made->Rows();
        if constexpr (HasFingerprint<K>::value) rows->fingerprint = made->Fingerprint();
        *state = made.release();
      });
    }
  };

  // The callbacks of format class K.
  template <typename K>
  class FormatOf {
   public:
    static const headrace_format* Table() {
      static headrace_format format = Named<headrace_format>(DeclarationOf<K>().Finish());
      format.columns = AddColumns<K>;
      format.create = [](headrace_call* call, const headrace_value* const* values, void** state) {
        return Caught(call, [&] { *state = new K(Attributes(DeclarationOf<K>(), values)); });
      };
      format.destroy = [](void* state) { delete static_cast<K*>(state); };
      if constexpr (HasFind<K>::value) format.find = Find;
      format.open = Open;
      format.next = Next;
      format.close = [](void* reader) { delete static_cast<typename K::Reader*>(reader); };
      return &format;
    }

   private:
    static int32_t Find(headrace_call* call, const void* state, headrace_file* given, int64_t byte, int64_t* begin) {
      return Caught(call, [&] {
        File file(call, given);
        *begin = static_cast<const K*>(state)->Find(file, byte);
      });
    }
    static int32_t Open(headrace_call* call, const void* state, headrace_file* given, int64_t begin, int64_t end,
                        void** reader) {
      return Caught(call, [&] {
        File file(call, given);
        *reader = new typename K::Reader(*static_cast<const K*>(state), file, begin, end);
      });
    }
    static int32_t Next(headrace_call* call, void* reader, headrace_file* given) {
      bool more = false;
      FileRow row(call);
      const int32_t result = Caught(call, [&] {
        File file(call, given);
        more = static_cast<typename K::Reader*>(reader)->Next(file, row);
      });
      if (result != HEADRACE_OK || more == row.begun()) return result;
      return host->fail(call, HEADRACE_FUNCTION_ERROR,
                        more ? "gives a row without Begin()" : "begins a row and says that there is none");
    }
  };

  template <typename K>
  constexpr bool kIsSource = std::is_base_of_v<Source, K>;
  template <typename K>
  constexpr bool kIsFormat = std::is_base_of_v<Format, K>;

  // Adds the table of class K to those of its kind.
  struct Tables {
    template <typename K>
    void Add() {
      if constexpr (kIsSource<K>) {
        sources.push_back(SourceOf<K>::Table());
      } else if constexpr (kIsFormat<K>) {
        formats.push_back(FormatOf<K>::Table());
      } else {
        kernels.push_back(KernelOf<K>::Table());
      }
    }

    std::vector<const headrace_kernel*> kernels;
    std::vector<const headrace_source*> sources;
    std::vector<const headrace_format*> formats;
  };

  // The version of the interface that a plugin of these classes needs.
  template <typename... Classes>
  constexpr uint32_t NeededAbi() {
    return HEADRACE_PLUGIN_ABI_MAJOR * 65536U + (((kIsSource<Classes> || kIsFormat<Classes>) || ...) ? 1 : 0);
  }

  // Exceptions end here: what calls it may be C.
  template <typename... Classes>
  int32_t GivePlugin(const headrace_host* given, headrace_call* call, const headrace_plugin** result, const char* name,
                     const char* version, const char* doc) {
    host = given;
    try {
      static const Tables& tables = *[] {
        auto* const made = new Tables;
        (made->template Add<Classes>(), ...);
        made->kernels.push_back(nullptr);
        made->sources.push_back(nullptr);
        made->formats.push_back(nullptr);
        return made;
      }();
      static const bool later = NeededAbi<Classes...>() > HEADRACE_PLUGIN_ABI_MAJOR * 65536U;
      static const headrace_plugin plugin = {sizeof(headrace_plugin),
                                             0,
                                             name,
                                             version,
                                             doc,
                                             tables.kernels.data(),
                                             later ? tables.sources.data() : nullptr,
                                             later ? tables.formats.data() : nullptr};
      *result = &plugin;
      return HEADRACE_OK;
    } catch (const std::exception& error) {
      return host->fail(call, HEADRACE_UNSUPPORTED_ERROR, error.what());
    } catch (...) {
      return host->fail(call, HEADRACE_UNSUPPORTED_ERROR, "a Declared() threw what is no std::exception");
    }
  }

}  // namespace headrace_plugin_cc

// At namespace scope, once in a plugin: its name, its version, what it is for, and its classes. Declared() may throw,
// on a machine that the plugin cannot be used on for instance: then the library is refused with the text.
#define HEADRACE_PLUGIN(name, version, doc, ...)                                                                  \
  extern "C" {                                                                                                    \
  HEADRACE_PLUGIN_EXPORT extern const uint32_t headrace_plugin_abi;                                               \
  const uint32_t headrace_plugin_abi = headrace_plugin_cc::NeededAbi<__VA_ARGS__>();                              \
  HEADRACE_PLUGIN_EXPORT int32_t headrace_plugin_query(uint32_t, const headrace_host* given, headrace_call* call, \
                                                       const headrace_plugin** result) {                          \
    return headrace_plugin_cc::GivePlugin<__VA_ARGS__>(given, call, result, name, version, doc);                  \
  }                                                                                                               \
  }

#endif  // HEADRACE_PLUGIN_HPP_
