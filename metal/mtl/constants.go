package mtl

// Values of Metal's enumerations, under Apple's names without the prefix. A test
// compares them with published facts.
const (
	BarrierScopeBuffers    = 1
	CommandBufferError     = 5 // MTLCommandBufferStatusError
	ErrorTimeout           = 2 // MTLCommandBufferErrorTimeout
	ErrorOutOfMemory       = 8 // MTLCommandBufferErrorOutOfMemory
	DataTypeBool           = 53
	DataTypeUInt           = 33
	DispatchTypeConcurrent = 1
	GPUFamilyApple7        = 1007
	GPUFamilyApple10       = 1010
	LanguageVersion3_1     = 196609
	LanguageVersion4_0     = 262144
	PipelineFailOnMiss     = 4         // MTLPipelineOptionFailOnBinaryArchiveMiss
	DataTypeFloat32        = 268435488 // MPSDataTypeFloat32
	numberSInt64           = 4         // kCFNumberSInt64Type
	MathModeSafe           = 0
	MathModeFast           = 2
	ResourceStorageShared  = 0
	ResourceUntracked      = 256
	ThermalStateSerious    = 2 // NSProcessInfoThermalStateSerious
)

// Size mirrors MTLSize: three words, passed by reference on arm64.
type Size struct{ Width, Height, Depth uint64 }
