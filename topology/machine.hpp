#pragma once

#include "topology/caches.hpp"
#include "topology/table.hpp"

#include <string>

namespace aqueduct::topology {

/// What the setting AQUEDUCT_TOPOLOGY asks for.
struct Source {
  enum class Kind : std::uint8_t { none, machine, synthetic, xml };
  Kind kind = Kind::machine;
  std::string text;  ///< a description in hwloc's words, or the path of a file

  /// "none", "auto", a path (which has a '/' or ends in ".xml"), or a description as "package:4 core:8".
  static Source of(const std::string& setting);
  /// Whether ranks are placed on the processors in turn, rather than where the system has them.
  bool pretends() const noexcept { return kind == Kind::synthetic || kind == Kind::xml; }
};

/// A table of processors, or the reason why there is none.
struct Reading {
  Table table = Table::unknown();
  std::string problem;
  Caches caches{};  ///< the first of each level
};

/// Asks hwloc. Takes some milliseconds, and some MiB meanwhile.
Reading read_machine(const Source& source);

}  // namespace aqueduct::topology
