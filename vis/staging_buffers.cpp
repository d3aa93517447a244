#include "vis/staging_buffers.hpp"

#include <new>

namespace aqueduct::vis {

StagingBuffer* StagingBuffers::take() noexcept {
  lacks_memory_ = false;
  for (StagingBuffer& stage : all_) {
    if (stage.taken) continue;
    if (stage.op != nullptr) {
      if (stage.op->done.load(std::memory_order_acquire) == 0) continue;
      static_cast<void>(ops_.collect(*stage.op));  // a failure ends the transfer's own operation too
      stage.op = nullptr;
    }
    if (stage.memory == nullptr) stage.memory.reset(new (std::nothrow) std::uint64_t[bytes_ / 8]);
    if (stage.memory == nullptr) {
      lacks_memory_ = true;
      continue;
    }
    lacks_memory_ = false;
    stage.taken = true;
    return &stage;
  }
  return nullptr;
}

}  // namespace aqueduct::vis
