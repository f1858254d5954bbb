// msl.h - a Metal Shading Language environment for clang (C++17, -fdeclspec): the compute subset without textures and
// ray tracing. The build puts it in front of every rewritten kernel source.
#pragma once
#include "register.h"
#include "tensor.h"
