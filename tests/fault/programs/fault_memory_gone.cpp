// From some moment on this rank gets no more memory, and it finishes. The first argument says whether the ranks have
// spoken before: `silent` or `spoken`. The second one says who gives none: operator `new`, or the `system`, which gives
// none to network libraries either. Prints what Job::finish returned.

#include <aqueduct/aqueduct.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>

#include <sys/resource.h>

namespace {

std::atomic<bool> gone{false};  ///< in all threads of the process

}  // namespace

// All pairs of operator new and delete. Not inline: where gcc sees through both it warns that memory from `new` goes to `free`.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return gone ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (void* memory = operator new(bytes, std::nothrow)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) { return operator new(bytes); }
[[gnu::noinline]] void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return operator new(bytes, std::nothrow);
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t align) {
  const auto unit = static_cast<std::size_t>(align);
  void* const memory = gone ? nullptr : std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, std::align_val_t align) {
  return operator new(bytes, align);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

int main(int argc, char** argv) {
  auto job = aqueduct::Job::start();
  if (!job) return job.status().exit_code();
  if (argc > 1 && std::string_view(argv[1]) == "spoken" && !job->endpoint().barrier()) return 2;
  if (argc > 2 && std::string_view(argv[2]) == "system") {
    const rlimit less_than_used{rlim_t{20} << 20, rlim_t{20} << 20};
    if (::setrlimit(RLIMIT_AS, &less_than_used) != 0) return 3;
  } else {
    gone = true;
  }
  const aqueduct::Status status = job->finish();
  gone = false;
  std::printf("finish: %s\n", status.text().c_str());
  std::fflush(stdout);
  return status.ok() ? 0 : 70;
}
