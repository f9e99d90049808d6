#pragma once
#include "cuda/cuda_bf16.h"
#define __mt_bfloat16 __nv_bfloat16
