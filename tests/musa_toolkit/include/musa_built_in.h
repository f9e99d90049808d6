/* What mcc has defined before the first line. */
#define __MUSACC__ 1
#ifdef __CUDA_ARCH__
#define __MUSA_ARCH__ 310
#endif
