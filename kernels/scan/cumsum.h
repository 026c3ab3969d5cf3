/*===- kernels/scan/cumsum.h - Running sum along one axis --------------------*- C -*-===
 *
 * Operands: X, Y of equal dims. Floats accumulate in double, integers wrap. Y may be X, with the same strides.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_SCAN_CUMSUM_H
#define PLIM_KERNELS_SCAN_CUMSUM_H

#ifdef __cplusplus
extern "C" {
#endif

enum plim_scan_cumsum_attr {
  PLIM_SCAN_CUMSUM_AXIS = 0,
  PLIM_SCAN_CUMSUM_EXCLUSIVE = 1, /* 1: an element does not count itself */
  PLIM_SCAN_CUMSUM_REVERSE = 2,   /* 1: from the end */
  PLIM_SCAN_CUMSUM_WORDS = 3
};

#ifdef __cplusplus
}
#endif
#endif
