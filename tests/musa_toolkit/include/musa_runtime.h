#pragma once
#include "cuda/cuda_runtime.h"
#include <musa_runtime_api.h>
