#pragma once

#include "core/conduit.hpp"

namespace aqueduct::rma {

/// Carries out other ranks' atomics on this rank's memory, and their puts and gets of a word (words.cpp), while its
/// owner computes: a core::Aside.
bool words_aside(core::Bytes packet, core::MutableBytes (*memory)(const void* what, SegmentId id) noexcept,
                 const void* what, core::AsideDone& done) noexcept;

}  // namespace aqueduct::rma
