# Applied to protoc's C++: zeroes a oneof where a message begins and where the oneof is cleared. protoc's accessors set
# the case before they allocate the member. If the allocation fails, the member is an arbitrary pointer, which the
# message's destructor deletes; it may delete a null pointer.
s/^  clear_has_(\w+)\(\);$/&\n  std::memset(static_cast<void*>(\&_impl_.\1_), 0, sizeof(_impl_.\1_));/
s/^  _impl_\._oneof_case_\[[0-9]+\] = (\w+)_NOT_SET;$/&\n  std::memset(static_cast<void*>(\&_impl_.\L\1\E_), 0, sizeof(_impl_.\L\1\E_));/
