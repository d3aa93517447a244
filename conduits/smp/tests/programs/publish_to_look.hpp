#pragma once

#include "tests/support/stepped.hpp"

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <sys/mman.h>
#include <unistd.h>

namespace aqueduct::smp_test {

/// Counts the instructions that this thread executes from its last store to `mine` to its first load from `its`, that one included:
/// one instruction at a time, with both ranges protected, so that each such access is known as it happens.
class PublishToLook {
 public:
  PublishToLook(std::span<std::byte> mine, std::span<std::byte> its)
      : mine_(whole_pages(mine)), its_(whole_pages(its)) {}

  /// Nothing: this build or machine cannot count, or the body does not do both.
  template <class Body>
  std::optional<long> count(const Body& body) {
    if (!support::Stepped::possible()) return std::nullopt;
    struct sigaction faults {};
    struct sigaction before {};
    faults.sa_sigaction = [](int, siginfo_t* info, void*) { now_->faulted(info->si_addr); };
    faults.sa_flags = SA_SIGINFO;
    now_ = this;
    steps_ = 0;
    stored_at_ = 0;
    looked_at_ = 0;
    is_open_ = false;
    ::sigaction(SIGSEGV, &faults, &before);
    allow(mine_, PROT_READ);
    allow(its_, PROT_NONE);
    support::Stepped::run(body, [this] { after_step(); });
    allow(mine_, PROT_READ | PROT_WRITE);
    allow(its_, PROT_READ | PROT_WRITE);
    ::sigaction(SIGSEGV, &before, nullptr);
    if (stored_at_ == 0 || looked_at_ == 0) return std::nullopt;
    return looked_at_ - stored_at_;
  }

 private:
  static std::span<std::byte> whole_pages(std::span<std::byte> range) {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(range.data());
    const std::uintptr_t skipped = begin % page;
    return {range.data() - skipped, (skipped + range.size() + page - 1) / page * page};
  }
  static void allow(std::span<std::byte> range, int how) {
    if (::mprotect(range.data(), range.size(), how) != 0) ::_exit(4);
  }
  static bool has(std::span<std::byte> range, const void* place) {
    const auto* const at = static_cast<const std::byte*>(place);
    return at >= range.data() && at < range.data() + range.size();
  }

  /// In signal handlers.
  void after_step() {
    steps_ = steps_ + 1;
    if (!is_open_ || looked_at_ != 0) return;
    is_open_ = false;
    allow(mine_, PROT_READ);
  }
  void faulted(const void* place) {
    if (has(its_, place)) {
      looked_at_ = steps_;
      allow(its_, PROT_READ | PROT_WRITE);
      allow(mine_, PROT_READ | PROT_WRITE);
      return;
    }
    if (!has(mine_, place)) ::_exit(5);
    stored_at_ = steps_;
    is_open_ = true;
    allow(mine_, PROT_READ | PROT_WRITE);
  }

  static inline PublishToLook* now_ = nullptr;
  std::span<std::byte> mine_;
  std::span<std::byte> its_;
  volatile long steps_ = 0;
  volatile long stored_at_ = 0;
  volatile long looked_at_ = 0;
  volatile bool is_open_ = false;
};

}  // namespace aqueduct::smp_test
