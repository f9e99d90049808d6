/* Libraries that a converted project links: as much of them as the projects of the tests call. Nothing is run. */
int mublasCreate(void* handle) { return 0; }
int mublasDestroy(void* handle) { return 0; }
int mublasSetStream(void* handle, void* stream) { return 0; }
int mublasSnrm2(void* handle, int count, const float* data, int step, float* result) { return 0; }
int murandCreateGenerator(void* generator, int kind) { return 0; }
int murandDestroyGenerator(void* generator) { return 0; }
int murandGenerateUniform(void* generator, float* data, unsigned long count) { return 0; }
int murandSetPseudoRandomGeneratorSeed(void* generator, unsigned long long seed) { return 0; }
