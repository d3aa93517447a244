// Random updates of a table that is spread over all ranks, in three ways. The HPC Challenge benchmark
// RandomAccess, whose result is in GUPS: 10^9 updates per second.

#include <aqueduct/aqueduct.hpp>

#include "common/board.hpp"
#include "common/check.hpp"
#include "common/command_line.hpp"
#include "common/stopwatch.hpp"
#include "gups/table.hpp"
#include "gups/updates.hpp"

#include <cstdint>
#include <cstdio>
#include <string>

namespace {

using example::fail;
using example::need;

struct Options {
  std::string mode = "atomics";
  unsigned log2_words = 20;
  unsigned updates_per_word = 4;  // specified by the benchmark
  std::uint64_t window = 1024;    // specified: the most updates that may be held back
};

// Chosen: about as many stores as a processor holds back until it owns their lines, while it runs the gets of later
// updates.
constexpr std::uint64_t kInWork = 64;

/// How many words may be wrong after get-modify-put. An update is lost when another rank writes the word between its
/// get and its put. With kInWork words in work on each rank the probability for an update is kInWork × `ranks` / `words`
/// at most, so all updates together lose at most about kInWork × updates_per_word × ranks. The benchmark allows a
/// hundredth of the table; this is added, for tables so small that a hundredth is less.
std::uint64_t allowed_errors(const Options& options, std::uint64_t words, aqueduct::Rank ranks) {
  if (options.mode != "gets" || ranks == 1) return 0;
  return words / 100 + kInWork * options.updates_per_word * ranks;
}

void run(aqueduct::Endpoint& ep, const Options& options) {
  example::Board board(ep);
  const gups::Table table(ep, options.log2_words);
  gups::MessageUpdates messages(ep, table);

  const std::uint64_t updates = table.words() * options.updates_per_word;
  const std::uint64_t first = updates * ep.rank() / ep.ranks();
  const gups::Share share{first, updates * (ep.rank() + 1) / ep.ranks() - first};

  need(ep.barrier(), "barrier");  // all tables are filled and all handlers registered
  const example::Stopwatch watch;
  if (options.mode == "atomics") gups::update_by_atomics(ep, table, share, options.window);
  if (options.mode == "gets") gups::update_by_gets(ep, table, share);
  if (options.mode == "am") messages.update(share);
  need(ep.barrier(), "barrier");
  const double seconds = board.max(watch.seconds());  // of the rank that started first

  // Applying the same updates again restores the original table, because x ^ n ^ n is x: words that differ lost an
  // update. The second pass uses another method, because an update that the first always loses would go unnoticed.
  const auto touched = static_cast<std::uint64_t>(board.sum(static_cast<double>(table.changed_words())));
  if (options.mode == "atomics") {
    messages.update(share);
  } else {
    gups::update_by_atomics(ep, table, share, options.window);
  }
  need(ep.barrier(), "barrier");
  const auto errors = static_cast<std::uint64_t>(board.sum(static_cast<double>(table.changed_words())));

  if (ep.rank() != 0) return;
  std::printf("gups: %s, 2^%u words, %llu updates, %u ranks: %.3f s, %.5f GUPS\n", options.mode.c_str(),
              options.log2_words, static_cast<unsigned long long>(updates), ep.ranks(), seconds,
              static_cast<double>(updates) / seconds * 1e-9);
  const std::uint64_t allowed = allowed_errors(options, table.words(), ep.ranks());
  std::printf("gups: %llu wrong words, %llu allowed\n", static_cast<unsigned long long>(errors),
              static_cast<unsigned long long>(allowed));
  // The first numbers of the sequence have few bits set, so they hit few words of a small table.
  if (touched < table.words() / 8) fail("only " + std::to_string(touched) + " words were updated at all");
  if (errors > allowed) fail(std::to_string(errors) + " words are wrong");
}

}  // namespace

int main(int argc, char** argv) {
  example::CommandLine line(
      "Random updates of a table that is spread over all ranks (HPC Challenge RandomAccess).");
  Options options;
  line.choice("--mode", options.mode, "How to update: atomics, gets (get-modify-put) or am (messages)",
              {"atomics", "gets", "am"});
  line.number("--log2-words", options.log2_words, "The table has 2^N words of 8 bytes, in all", 12, 34);
  line.number("--updates-per-word", options.updates_per_word, "How many updates, as a multiple of the table",
              2, 1024);
  line.number("--window", options.window, "How many atomics may be in flight", 1, 1 << 20);
  line.parse(argc, argv);

  auto job = need(aqueduct::Job::start(), "start the job");
  job.run_each([&](aqueduct::Endpoint& ep) { run(ep, options); });
  need(job.finish(), "finish the job");
  return 0;
}
