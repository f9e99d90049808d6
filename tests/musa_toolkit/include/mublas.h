/* The few functions that the projects of the tests call; stubs.c defines them. */
#pragma once
#include <musa_runtime_api.h>
typedef struct mublasContext* mublasHandle_t;
#ifdef __cplusplus
extern "C" {
#endif
int mublasCreate(mublasHandle_t* handle);
int mublasDestroy(mublasHandle_t handle);
int mublasSetStream(mublasHandle_t handle, musaStream_t stream);
int mublasSnrm2(mublasHandle_t handle, int count, const float* data, int step, float* result);
#ifdef __cplusplus
}
#endif
