#pragma once

#include <cstddef>

#include <unistd.h>

namespace aqueduct::gasnet {

/// A line for stderr that is put together without calls that a handler of signals must not make.
class SignalLine {
 public:
  SignalLine& operator<<(const char* text) noexcept {
    for (; *text != 0 && size_ < sizeof text_; ++text) text_[size_++] = *text;
    return *this;
  }
  SignalLine& operator<<(unsigned number) noexcept {
    char digits[12] = {};
    std::size_t at = sizeof digits - 1;
    do digits[--at] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    return *this << digits + at;
  }
  void print() const noexcept { static_cast<void>(!write(STDERR_FILENO, text_, size_)); }

 private:
  char text_[384];
  std::size_t size_ = 0;
};

}  // namespace aqueduct::gasnet
