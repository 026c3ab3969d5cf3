//===- strided.cpp - Walking strided tensors -------------------------------------------------===//

#include "kernels/strided.h"

#include "kernels/convert.h"

namespace plim::kernels {

Cursor::Cursor(uint32_t fullRank, const int64_t *fullDims, const int64_t *fullStrides) : rank(0) {
  for (uint32_t i = 0; i < fullRank; ++i) {
    if (fullDims[i] == 1)
      continue;
    if (rank && strides[rank - 1] == fullStrides[i] * fullDims[i]) {
      dims[rank - 1] *= fullDims[i];
      strides[rank - 1] = fullStrides[i];
    } else {
      dims[rank] = fullDims[i];
      strides[rank++] = fullStrides[i];
    }
  }
  if (rank == 0) {
    dims[0] = 1;
    strides[0] = 0;
    rank = 1;
  }
  for (uint32_t i = 0; i < rank; ++i)
    index[i] = 0;
}

void Cursor::seek(int64_t element) {
  offset = 0;
  for (uint32_t i = rank; i-- > 0;) {
    index[i] = element % dims[i];
    element /= dims[i];
    offset += index[i] * strides[i];
  }
}

void Cursor::carry() {
  for (uint32_t i = rank - 1;; --i) {
    offset -= dims[i] * strides[i];
    index[i] = 0;
    if (i == 0)
      return;
    offset += strides[i - 1];
    if (++index[i - 1] < dims[i - 1])
      return;
  }
}

template <class C> void loadRun(const void *base, uint8_t dtype, int64_t offset, int64_t stride, int64_t n, C *block) {
  withType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const T *src = static_cast<const T *>(base) + offset;
    if (stride == 1) {
      for (int64_t i = 0; i < n; ++i)
        block[i] = decode<C>(src[i]);
    } else if (stride == 0) {
      C value = decode<C>(src[0]);
      for (int64_t i = 0; i < n; ++i)
        block[i] = value;
    } else {
      for (int64_t i = 0; i < n; ++i)
        block[i] = decode<C>(src[i * stride]);
    }
  });
}

template <class C> void storeRun(void *base, uint8_t dtype, int64_t offset, int64_t stride, int64_t n, const C *block) {
  withType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    T *dst = static_cast<T *>(base) + offset;
    if (stride == 1) {
      for (int64_t i = 0; i < n; ++i)
        dst[i] = Encode<T, C>::of(block[i]);
    } else {
      for (int64_t i = 0; i < n; ++i)
        dst[i * stride] = Encode<T, C>::of(block[i]);
    }
  });
}

template <class C> void loadBlock(const void *base, uint8_t dtype, Cursor &cursor, int64_t n, C *block) {
  while (n > 0) {
    Run run = cursor.run();
    int64_t count = run.count < n ? run.count : n;
    loadRun(base, dtype, run.offset, run.stride, count, block);
    cursor.advance(count);
    block += count;
    n -= count;
  }
}

template <class C> void storeBlock(void *base, uint8_t dtype, Cursor &cursor, int64_t n, const C *block) {
  while (n > 0) {
    Run run = cursor.run();
    int64_t count = run.count < n ? run.count : n;
    storeRun(base, dtype, run.offset, run.stride, count, block);
    cursor.advance(count);
    block += count;
    n -= count;
  }
}

#define PLIM_INSTANTIATE(C)                                                                                            \
  template void loadRun<C>(const void *, uint8_t, int64_t, int64_t, int64_t, C *);                                     \
  template void storeRun<C>(void *, uint8_t, int64_t, int64_t, int64_t, const C *);                                    \
  template void loadBlock<C>(const void *, uint8_t, Cursor &, int64_t, C *);                                           \
  template void storeBlock<C>(void *, uint8_t, Cursor &, int64_t, const C *);
PLIM_INSTANTIATE(float)
PLIM_INSTANTIATE(double)
PLIM_INSTANTIATE(int64_t)
PLIM_INSTANTIATE(uint64_t)
#undef PLIM_INSTANTIATE

template <class T>
static void copyTyped(void *dst, int64_t dstOffset, int64_t dstStride, const void *src, int64_t srcOffset,
                      int64_t srcStride, int64_t n) {
  T *to = static_cast<T *>(dst) + dstOffset;
  const T *from = static_cast<const T *>(src) + srcOffset;
  if (dstStride == 1 && srcStride == 1) {
    memmove(to, from, size_t(n) * sizeof(T)); // a kernel run in place moves rows onto themselves
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    to[i * dstStride] = from[i * srcStride];
}

void copyRun(void *dst, int64_t dstOffset, int64_t dstStride, const void *src, int64_t srcOffset, int64_t srcStride,
             int64_t n, uint32_t bytes) {
  switch (bytes) {
  case 1:
    return copyTyped<uint8_t>(dst, dstOffset, dstStride, src, srcOffset, srcStride, n);
  case 2:
    return copyTyped<uint16_t>(dst, dstOffset, dstStride, src, srcOffset, srcStride, n);
  case 4:
    return copyTyped<uint32_t>(dst, dstOffset, dstStride, src, srcOffset, srcStride, n);
  default:
    return copyTyped<uint64_t>(dst, dstOffset, dstStride, src, srcOffset, srcStride, n);
  }
}

void copyBlock(void *dst, Cursor &to, const void *src, Cursor &from, int64_t n, uint32_t bytes) {
  while (n > 0) {
    Run out = to.run(), in = from.run();
    int64_t count = in.count < out.count ? in.count : out.count;
    count = count < n ? count : n;
    copyRun(dst, out.offset, out.stride, src, in.offset, in.stride, count, bytes);
    from.advance(count);
    to.advance(count);
    n -= count;
  }
}

} // namespace plim::kernels
