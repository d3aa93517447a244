#pragma once

#include <memory>
#include <new>

#include <sys/mman.h>

namespace aqueduct::conformance {

/// How many Shared objects there are: while there is one, only ranks of this machine can run.
class SharedCount {
 public:
  static int alive() noexcept { return count(); }

 protected:
  SharedCount() noexcept { ++count(); }
  ~SharedCount() { --count(); }

 private:
  static int& count() noexcept {
    static int alive = 0;
    return alive;
  }
};

/// A `T` that all ranks of a launch share, threads or processes, without the library. Made before the launch. For
/// facts that a case must know independently of the library under test. `T` holds atomics and plain data. Such cases are
/// skipped if a launcher starts the ranks.
template <class T>
class Shared : SharedCount {
 public:
  Shared() {
    void* memory = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    value_ = ::new (memory) T{};
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { ::munmap(value_, sizeof(T)); }

  T* operator->() noexcept { return value_; }
  T& operator*() noexcept { return *value_; }

 private:
  T* value_;
};

}  // namespace aqueduct::conformance
