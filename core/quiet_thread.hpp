#pragma once

#include <functional>
#include <thread>

namespace aqueduct::core {

/// Starts a thread of the library's own, which takes no signals: the program's signal handlers must not run on it.
/// `name` has at most 15 characters. Throws std::system_error if the system gives no thread.
std::thread start_quiet_thread(const char* name, std::function<void()> body);

}  // namespace aqueduct::core
