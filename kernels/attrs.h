/*===- kernels/attrs.h - Reading and writing the words of a launch's attributes -*- C -*-===*/
#ifndef PLIM_KERNELS_ATTRS_H
#define PLIM_KERNELS_ATTRS_H

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline int64_t plim_attr_int(const void *attrs, int word) {
  int64_t value;
  memcpy(&value, (const char *)attrs + 8 * word, 8);
  return value;
}

static inline double plim_attr_double(const void *attrs, int word) {
  double value;
  memcpy(&value, (const char *)attrs + 8 * word, 8);
  return value;
}

/* The word that carries a double. */
static inline int64_t plim_attr_from_double(double value) {
  int64_t word;
  memcpy(&word, &value, 8);
  return word;
}

#ifdef __cplusplus
}
#endif
#endif
