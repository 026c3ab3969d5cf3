// Errors of the runtime: a builder that fills this thread's plim_error.
//
//   return Failure(PLIM_ERR_BOUND).at("input %s", name).need(4).have(n).say("dimension %u is beyond its bound", i);
#ifndef PLIM_RUNTIME_CORE_ERROR_H
#define PLIM_RUNTIME_CORE_ERROR_H

#include "plim/status.h"

namespace plim::rt {

class Failure {
public:
  explicit Failure(plim_status status);

  Failure &need(uint64_t n);
  Failure &have(uint64_t n);
  Failure &code(int32_t code);
  Failure &step(uint32_t program, uint32_t step);
  [[gnu::format(printf, 2, 3)]] Failure &at(const char *format, ...);
  /// Sets the message and returns the status.
  [[gnu::format(printf, 2, 3)]] plim_status say(const char *format, ...);
};

/// A list of names cut to what a message holds, for errors that name all problems at once.
class NameList {
public:
  void add(const char *name);
  bool empty() const { return used == 0; }
  const char *text() const { return buffer; }

private:
  char buffer[160] = {};
  unsigned used = 0;
};

} // namespace plim::rt

#endif
