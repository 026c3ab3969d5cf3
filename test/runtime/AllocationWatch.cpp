#include "test/runtime/AllocationWatch.h"

#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

std::atomic<bool> watching{false};
std::atomic<uint64_t> calls{0};

} // namespace

#ifndef PLIM_SANITIZED

namespace {

void note() {
  if (watching.load())
    calls.fetch_add(1);
}

template <class Fn> Fn *next(const char *name) { return reinterpret_cast<Fn *>(dlsym(RTLD_NEXT, name)); }

} // namespace

extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t n) {
  note();
  return __libc_malloc(n);
}
void *calloc(size_t n, size_t each) {
  note();
  return __libc_calloc(n, each);
}
void *realloc(void *p, size_t n) {
  note();
  return __libc_realloc(p, n);
}
void *aligned_alloc(size_t alignment, size_t n) {
  note();
  return __libc_memalign(alignment, n);
}
int posix_memalign(void **out, size_t alignment, size_t n) {
  note();
  *out = __libc_memalign(alignment, n);
  return *out ? 0 : 12;
}
void *mmap(void *address, size_t n, int protection, int flags, int fd, off_t offset) {
  note();
  return next<decltype(mmap)>("mmap")(address, n, protection, flags, fd, offset);
}
void *mremap(void *old, size_t oldSize, size_t newSize, int flags, ...) {
  note();
  return next<void *(void *, size_t, size_t, int)>("mremap")(old, oldSize, newSize, flags);
}
int brk(void *end) {
  note();
  return next<decltype(brk)>("brk")(end);
}
void *sbrk(intptr_t by) {
  if (by)
    note();
  return next<decltype(sbrk)>("sbrk")(by);
}
}

#endif

namespace plim::test {

AllocationWatch::AllocationWatch() {
  calls = 0;
  watching = true;
}

uint64_t AllocationWatch::end() {
  watching = false;
  return calls;
}

} // namespace plim::test
