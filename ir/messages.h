// Declares the messages of ir/graph.proto, for headers that only refer to them: the generated header is the heaviest of
// all. Use it in headers; a source that reads or writes a message includes "ir/graph.pb.h". Threads: none.
#ifndef HEADRACE_IR_MESSAGES_H_
#define HEADRACE_IR_MESSAGES_H_

namespace headrace::ir::proto {

class Attribute;
class Branch;
class ColumnType;
class Columns;
class Expression;
class Graph;
class Location;
class Node;
class Step;
class Value;

}  // namespace headrace::ir::proto

#endif  // HEADRACE_IR_MESSAGES_H_
