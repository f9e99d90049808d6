/* The few functions that the projects of the tests call; stubs.c defines them. */
#pragma once
#include <stddef.h>
typedef struct murandGenerator* murandGenerator_t;
enum { MURAND_RNG_PSEUDO_PHILOX4_32_10 = 410 };
#ifdef __cplusplus
extern "C" {
#endif
int murandCreateGenerator(murandGenerator_t* generator, int kind);
int murandDestroyGenerator(murandGenerator_t generator);
int murandGenerateUniform(murandGenerator_t generator, float* data, size_t count);
int murandSetPseudoRandomGeneratorSeed(murandGenerator_t generator, unsigned long long seed);
#ifdef __cplusplus
}
#endif
