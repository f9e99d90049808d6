/* The names of MUSA's runtime that the projects of the tests use, led back to CUDA's. */
#pragma once
#include "cuda/cuda_runtime_api.h"
#define MUSART_VERSION 50200
#define musaDeviceSynchronize cudaDeviceSynchronize
#define musaError_t cudaError_t
#define musaFree cudaFree
#define musaGetErrorString cudaGetErrorString
#define musaGetLastError cudaGetLastError
#define musaMalloc cudaMalloc
#define musaMallocManaged cudaMallocManaged
#define musaMemcpy cudaMemcpy
#define musaMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define musaMemset cudaMemset
#define musaStreamCreate cudaStreamCreate
#define musaStreamDestroy cudaStreamDestroy
#define musaStreamSynchronize cudaStreamSynchronize
#define musaStream_t cudaStream_t
#define musaSuccess cudaSuccess
