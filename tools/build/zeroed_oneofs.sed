# Applied to protoc's C++: zeroes a oneof where a message begins and where the oneof is cleared. protoc's accessors note
# which member is set before they allocate it, so a failed allocation would leave a pointer to anything, which the
# message's destructor then deletes. It deletes a null pointer, too.
s/^  clear_has_(\w+)\(\);$/&\n  std::memset(static_cast<void*>(\&_impl_.\1_), 0, sizeof(_impl_.\1_));/
s/^  _impl_\._oneof_case_\[[0-9]+\] = (\w+)_NOT_SET;$/&\n  std::memset(static_cast<void*>(\&_impl_.\L\1\E_), 0, sizeof(_impl_.\L\1\E_));/
