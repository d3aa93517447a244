#pragma once

#include <array>
#include <cstddef>
#include <span>

#include <sched.h>

namespace aqueduct::perf {

/// Seconds that all cores together have been busy since the machine started, in steps of 10 ms.
double busy_core_seconds();
/// Processor seconds of this thread.
double own_core_seconds();
/// Processor nanoseconds of all threads of this process.
double process_ns();
/// The most memory that this process ever had, in KiB.
std::size_t peak_rss_kib();

/// Identifies one boot of one machine: /proc/sys/kernel/random/boot_id.
using KernelName = std::array<char, 64>;
KernelName running_kernel();

/// The cores that this thread may run on.
cpu_set_t allowed_cores();
/// Whether no two of these sets have a core in common.
bool are_apart(std::span<const cpu_set_t> sets);
/// Lets this thread run on all of these cores.
void bind_to_all(const cpu_set_t& cores);
/// Binds this thread to the `index`-th core of the set. Does nothing where the system refuses.
void bind_to(const cpu_set_t& cores, std::size_t index);

}  // namespace aqueduct::perf
