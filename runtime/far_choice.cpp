#include "runtime/far_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>

namespace aqueduct::runtime {
namespace {

using core::Wire;

struct Candidate {
  const core::ConduitEntry* entry;
  core::Usability found;

  /// Conduit, wire and preference, such as "udp/1/2". Only if these are equal on two hosts, the hosts can communicate
  /// through the conduit and make the same choice.
  std::string offer() const {
    return fmt::format("{}/{}/{}", entry->name, static_cast<int>(found.wire), entry->preference);
  }
  /// The better of two candidates. Equal ones are ordered by name, because hosts may find their conduits in different
  /// orders.
  bool operator<(const Candidate& other) const {
    return std::tuple(found.wire, entry->preference, std::string_view(other.entry->name)) <
           std::tuple(other.found.wire, other.entry->preference, std::string_view(entry->name));
  }
};

const char* words_for(Wire wire) {
  switch (wire) {
    case Wire::sockets_of_library: return "the system's sockets through a library";
    case Wire::sockets: return "the system's sockets";
    case Wire::hardware: return "a network card that needs no system call";
  }
  return "";
}

std::string together(std::span<const Candidate> candidates) {
  std::string text;
  for (const Candidate& one : candidates) text += one.offer() + " ";
  return text;
}

bool offers(std::string_view all, std::string_view one) {
  const std::string word = fmt::format("{} ", one);
  return all.starts_with(word) || all.find(" " + word) != std::string_view::npos;
}

/// The first process that lacks a candidate; empty if all have it.
std::optional<std::size_t> lacks(std::span<const std::string> offered, const Candidate& one) {
  const auto without =
      std::ranges::find_if(offered, [&](const auto& all) { return !offers(all, one.offer()); });
  if (without == offered.end()) return std::nullopt;
  return static_cast<std::size_t>(without - offered.begin());
}

std::string why_behind(const Candidate& one, const Candidate& taken) {
  if (one.found.wire != taken.found.wire) {
    return fmt::format("usable, over {}; {} is preferred, over {}", words_for(one.found.wire),
                       taken.entry->name, words_for(taken.found.wire));
  }
  return fmt::format("usable; over the same kind of wire {} is preferred", taken.entry->name);
}

}  // namespace

Result<FarChoice> choose_far(std::span<const conduits::Available> all, const Config& config,
                             const Circumstances& job) {
  FarChoice choice;
  std::vector<Candidate> usable;
  for (const conduits::Available& one : all) {
    if (one.entry == nullptr) {
      choice.passed_over.push_back({one.name, one.problem});
    } else if (!one.entry->crosses_hosts) {
      choice.passed_over.push_back({one.name, "stays on one host"});
    } else if (auto found = one.entry->probe(config); found.usable) {
      usable.push_back({one.entry, std::move(found)});
    } else {
      choice.passed_over.push_back({one.name, found.why});
    }
  }
  if (job.ask_all) {
    const auto offered = job.ask_all(together(usable));
    if (!offered) return offered.status();
    std::erase_if(usable, [&](const Candidate& one) {
      const auto without = lacks(*offered, one);
      if (without) {
        choice.passed_over.push_back(
            {one.entry->name, fmt::format("usable here over {}, but not alike for process {}",
                                          words_for(one.found.wire), *without)});
      }
      return without.has_value();
    });
  }
  if (usable.empty()) return choice;
  const auto taken = std::max_element(usable.begin(), usable.end());
  choice.entry = taken->entry;
  choice.why = fmt::format("the best usable conduit between hosts, over {}", words_for(taken->found.wire));
  for (const Candidate& one : usable) {
    if (one.entry != taken->entry) choice.passed_over.push_back({one.entry->name, why_behind(one, *taken)});
  }
  return choice;
}

}  // namespace aqueduct::runtime
