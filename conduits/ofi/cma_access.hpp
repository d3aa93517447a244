#pragma once

#include <string>

namespace aqueduct::conduits::ofi {

/// What the system allows of copies between processes (process_vm_readv).
struct CmaAccess {
  /// The errno of a trial copy inside this process, which only a filter of system calls refuses; 0: it succeeded.
  int error = 0;
  int ptrace_scope =
      0;  ///< Yama's: from 1 on a process may copy from its descendants only, from 3 on from none
  bool may_trace = false;  ///< has CAP_SYS_PTRACE, which overrides values up to 2
};

CmaAccess probe_cma() noexcept;

/// Why processes cannot copy from one another, and what to do; empty: they can.
///
/// Without these copies shm sends a put's bytes in messages, and completes the put before its bytes have left.
std::string why_no_cma(const CmaAccess& found);

}  // namespace aqueduct::conduits::ofi
