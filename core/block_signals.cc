#include "core/block_signals.h"

#include <pthread.h>
#include <signal.h>

#include <initializer_list>

namespace headrace {

void BlockSignals() {
  sigset_t all;
  sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&all, fault);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace headrace
