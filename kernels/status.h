/*===- kernels/status.h - Codes that library kernels return ------------------*- C -*-===*/
#ifndef PLIM_KERNELS_STATUS_H
#define PLIM_KERNELS_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum plim_kernel_status {
  PLIM_KERNEL_OK = 0,
  PLIM_KERNEL_BAD_INDEX = 1,   /* an index operand holds a value outside its dimension */
  PLIM_KERNEL_UNSUPPORTED = 2, /* dtypes, shapes or attributes that the kernel does not take */
  PLIM_KERNEL_STATUS_COUNT = 3
} plim_kernel_status;

#ifdef __cplusplus
}
#endif
#endif
